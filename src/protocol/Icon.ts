/**
 * Pictures for a user interface (from 2025-11-25), and the name and title that go with them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#icons
 */
import { Schema } from "effect"

/** One picture, maybe one of several sizes (ICON-01). Whether `src` is safe to load is for the client that draws it. */
export const Icon = Schema.Struct({
  /** An `https:` or `data:` URI. */
  src: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  /** `"48x48"` and the like, or `"any"` for one that scales. */
  sizes: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The background it is drawn for; absent means any. */
  theme: Schema.optionalKey(Schema.Literals(["light", "dark"]))
})

/** One picture. */
export type Icon = typeof Icon.Type

/** Members of everything that has a name: `name` is for programs, `title` (from 2025-06-18) for people. */
export const baseMetadata = {
  name: Schema.String,
  title: Schema.optionalKey(Schema.String)
}

/** Member of everything that can have a picture. */
export const icons = {
  icons: Schema.optionalKey(Schema.Array(Icon))
}
