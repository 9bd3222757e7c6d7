/**
 * What every server in this directory offers, as far as its library can. `../peers.ts` says who can do what.
 *
 * | Tool     | Does                                                          |
 * | -------- | ------------------------------------------------------------- |
 * | `add`    | adds `a` and `b`; text, and `{ sum }` where outputs have types |
 * | `fail`   | answers with `isError`                                        |
 * | `steps`  | reports progress `count` times                                |
 * | `shout`  | logs at level `info`                                          |
 * | `wait`   | never ends by itself                                          |
 * | `waits`  | says how many calls of `wait` were cancelled                  |
 * | `ask`    | elicits a `name`                                              |
 * | `sample` | has the client's model answer                                 |
 * | `roots`  | asks for the client's roots                                   |
 */

/** The name and version that every server gives itself. */
export const info = { name: "interop", version: "1.0.0" } as const

/** A resource, and a family of resources. */
export const note = {
  name: "today",
  uri: "note://today",
  template: "note://{day}",
  mimeType: "text/plain",
  textOf: (day: string) => `A note of ${day}`
} as const

/** The values that the `day` of a note is completed with. */
export const daysFrom = (typed: string): Array<string> =>
  ["monday", "tuesday", "thursday"].filter((day) => day.startsWith(typed))

/** The values that the `name` in the prompt `greet` is completed with. */
export const namesFrom = (typed: string): Array<string> =>
  ["Ada", "Alan", "Grace"].filter((name) => name.startsWith(typed))

/** The text of the prompt `greet`. */
export const greeting = (name: string) => `Say hello to ${name}`

/** The failure of the tool `fail`. */
export const failure = "Out of luck"

/** The schema of what `ask` elicits. */
export const nameForm = {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"]
} as const

/** What `sample` asks for. */
export const sampled = {
  messages: [{ role: "user", content: { type: "text", text: "Say something" } }],
  maxTokens: 10
} as const

/** Calls of `wait` that were cancelled, in this process. */
export const waits = { cancelled: 0 }

/** Waits until it is told to stop, and counts that; 20 seconds are "never" here. */
export const wait = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, 20_000)
    signal.addEventListener("abort", () => {
      waits.cancelled++
      clearTimeout(timer)
      resolve()
    })
  })

/** Which transport to serve: the argument of the program. */
export const transport = process.argv[2] === "http" ? "http" : "stdio"

/** Tells where an HTTP server listens. */
export const announce = (port: number): void => console.error(`http://127.0.0.1:${port}/mcp`)
