/**
 * Every property that is fuzzed.
 */
import type { Property } from "./Property.ts"
import { serverProperties } from "./serverProperties.ts"

export const properties: ReadonlyArray<Property> = [...serverProperties]
