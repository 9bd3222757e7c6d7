/**
 * Pictures for a user interface (from 2025-11-25), and the name and title that go with them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#icons
 */
import * as Schema from "effect/Schema"

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

const imageTypes = new Set(["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"])

/**
 * Whether a client may load an icon at all: an `https:` URL without credentials, or a `data:` URI of a picture (ICON-04).
 * With the origin of the server that sent it, an `https:` icon must come from there (ICON-05). What was loaded is still
 * to be checked: its size, its first bytes, scripts in an SVG.
 *
 * @example
 * ```ts
 * import { Protocol } from "mcp-effect"
 *
 * const shown = (tool: Protocol.Tool) => tool.icons?.filter((icon) => Protocol.mayLoadIcon(icon, "https://example.com"))
 * ```
 */
export const mayLoadIcon = (icon: Icon, serverOrigin?: string): boolean => {
  if (!URL.canParse(icon.src)) return false
  const url = new URL(icon.src)
  if (url.protocol === "data:") return imageTypes.has(url.pathname.split(/[;,]/, 1)[0]?.toLowerCase() ?? "")
  if (url.protocol !== "https:" || url.username !== "" || url.password !== "") return false
  return serverOrigin === undefined || url.origin === new URL(serverOrigin).origin
}
