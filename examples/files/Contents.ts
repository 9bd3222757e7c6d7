/**
 * What is in a file: text, or bytes of some type.
 */

/** The contents of a file. Bytes that are not UTF-8, or that hold a zero, are not text. */
export interface Contents {
  readonly mimeType: string
  /** The text; `undefined` for what is not text. */
  readonly text: string | undefined
  readonly bytes: Uint8Array
}

const types: { readonly [extension: string]: string } = {
  css: "text/css",
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  md: "text/markdown",
  mjs: "text/javascript",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  ts: "text/x-typescript",
  webp: "image/webp",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml"
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Tells what bytes are, from themselves and from the name of their file. */
export const contentsOf = (path: string, bytes: Uint8Array): Contents => {
  const text = textOf(bytes)
  const known = types[path.slice(path.lastIndexOf(".") + 1).toLowerCase()]
  return { text, bytes, mimeType: known ?? (text === undefined ? "application/octet-stream" : "text/plain") }
}

const textOf = (bytes: Uint8Array): string | undefined => {
  if (bytes.includes(0)) return undefined
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
