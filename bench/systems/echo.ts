/**
 * What every server of the comparison offers, in words that no library has a say in.
 *
 * `echo { text }` answers with its text, `progress { text, times }` reports progress that many times before it does so.
 * With `BENCH_TOOLS=1000` there are further tools, up to that number, that nobody calls: they make `tools/list` long.
 */
export type Era = "legacy" | "modern"

export const versions = { legacy: "2025-11-25", modern: "2026-07-28" } as const

export const info = { name: "echo", version: "1.0.0" }

export const descriptions = {
  echo: "Answers with the text that it is given",
  progress: "Reports progress a number of times, then answers with the text that it is given"
}

/** The tools that only make the list long. */
export const fillers: ReadonlyArray<{ readonly name: string; readonly description: string }> = Array.from(
  { length: Math.max(0, Number(process.env.BENCH_TOOLS ?? 2) - 2) },
  (_, index) => ({ name: `filler-${index}`, description: `A tool that makes the list longer, number ${index}` })
)

/** How an HTTP server answers where it has the choice: with a JSON body, or with a stream of events. */
export const answers: "json" | "sse" = process.env.BENCH_ANSWERS === "sse" ? "sse" : "json"

/** One end of an in-memory link: JSON text goes in here, and comes out at the function given to {@link OpenLink}. */
export interface Link {
  readonly send: (text: string) => void
}

/** Starts a server of one era in this process. */
export type OpenLink = (era: Era, receive: (text: string) => void) => Promise<Link>

/** What a client of the comparison has to do. */
export interface EchoClient {
  /** Calls `echo` and returns the text of its answer. */
  readonly echo: (text: string) => Promise<string>
  readonly close: () => Promise<void>
}

/** Where the server of a client is. */
export type Target =
  | { readonly transport: "stdio"; readonly command: string; readonly args: ReadonlyArray<string> }
  | { readonly transport: "http"; readonly url: string }

/** Connects a client of one era. */
export type Connect = (era: Era, target: Target) => Promise<EchoClient>

/** Tells whoever has started this process that it listens. */
export const announce = (port: number): void => {
  process.stdout.write(`port=${port}\n`)
}
