/**
 * The tools of the matrix, as both sides know them.
 */
import { Schema } from "effect"
import { Protocol, Tool } from "mcp-effect"

/** A failure that a tool declares. */
export class Overdrawn extends Schema.TaggedError<Overdrawn>()("Overdrawn", { missing: Schema.Number }) {}

/** Has a title, an icon and hints, of which older revisions know nothing. */
export const Add = Tool.make("add", {
  title: "Sum",
  description: "Adds two numbers",
  input: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
  output: Schema.Struct({ sum: Schema.Number }),
  hints: { readOnly: true },
  icons: [{ src: "https://example.com/sum.png" }]
})

/** Gives back what it is told, and one block of every kind of content. */
export const Show = Tool.make("show", { input: Schema.Struct({ text: Schema.String }) })

/** Reports progress. */
export const Count = Tool.make("count")

/** Logs at every level. */
export const Chat = Tool.make("chat")

/** Reports progress once, and then does not end by itself. */
export const Wait = Tool.make("wait")

/** Ends when the handler of {@link Wait} was interrupted. */
export const Stopped = Tool.make("stopped")

/** Changes the resource `counter://value`. */
export const Increase = Tool.make("increase")

/** Adds a tool. */
export const Grow = Tool.make("grow")

/** Asks a person for their name. What can't be asked is a typed failure of the server, which it hands on. */
export const AskName = Tool.make("ask-name", { error: Protocol.Unsupported })

/** Asks a person to open a page. */
export const AskPage = Tool.make("ask-page", { error: Protocol.Unsupported })

/** Asks a model. */
export const Think = Tool.make("think", { error: Protocol.Unsupported })

/** Asks a model that may use a tool. */
export const ThinkWithTools = Tool.make("think-with-tools", { error: Protocol.Unsupported })

/** Asks where it may work. */
export const Where = Tool.make("where", { error: Protocol.Unsupported })

/** Fails as it declares. */
export const Withdraw = Tool.make("withdraw", { input: Schema.Struct({ amount: Schema.Number }), error: Overdrawn })

/** Fails with an error of JSON-RPC. */
export const Refuse = Tool.make("refuse")

/** Breaks. */
export const Break = Tool.make("break")
