/**
 * A request whose headers are exactly what the test says, `Host` and repeated ones included, which `fetch` does not allow.
 */
import { Effect } from "effect"
import { request } from "node:http"

/** What came back. */
export interface RawReply {
  readonly status: number
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
  readonly body: string
}

/** Sends names and values in turn. */
export const rawRequest = (
  url: string,
  options: { readonly method?: string; readonly headers: ReadonlyArray<string>; readonly body?: string }
): Effect.Effect<RawReply> =>
  Effect.callback((resume) => {
    const { body = "", headers, method = "POST" } = options
    const all = [...headers, "Content-Length", `${Buffer.byteLength(body)}`, "Connection", "close"]
    const outgoing = request(url, { method, headers: all, setHost: false }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () =>
        resume(
          Effect.succeed({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString("utf8")
          })
        )
      )
    })
    outgoing.on("error", (cause) => resume(Effect.die(cause)))
    outgoing.end(body)
    return Effect.sync(() => outgoing.destroy())
  })
