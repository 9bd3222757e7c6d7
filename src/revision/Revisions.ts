/**
 * The revisions this runtime speaks. The next one is a file of its own and a line here.
 */
import type { Revision } from "./Revision.ts"
import { v2024_11_05 } from "./v2024_11_05.ts"
import { v2025_03_26 } from "./v2025_03_26.ts"
import { v2025_06_18 } from "./v2025_06_18.ts"
import { v2025_11_25 } from "./v2025_11_25.ts"
import { v2026_07_28 } from "./v2026_07_28.ts"

/** The newest revision. */
export const newest: Revision = v2026_07_28

/** The newest revision that opens with `initialize`; what a server offers against a version it does not know. */
export const newestLegacy: Revision = v2025_11_25

/** Every revision, newest first. */
export const revisions: ReadonlyArray<Revision> = [v2026_07_28, v2025_11_25, v2025_06_18, v2025_03_26, v2024_11_05]

/** Finds a revision by its version string. */
export const findRevision = (version: string): Revision | undefined =>
  revisions.find((revision) => revision.version === version)
