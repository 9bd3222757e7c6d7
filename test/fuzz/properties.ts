/**
 * Every property that is fuzzed.
 */
import { clientProperties } from "./clientProperties.ts"
import { framingProperties } from "./framingProperties.ts"
import { httpProperties } from "./httpProperties.ts"
import type { Property } from "./Property.ts"
import { serverProperties } from "./serverProperties.ts"

export const properties: ReadonlyArray<Property> = [
  ...framingProperties,
  ...serverProperties,
  ...httpProperties,
  ...clientProperties
]
