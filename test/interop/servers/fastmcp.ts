/**
 * A server written with `fastmcp`.
 *
 *     node fastmcp.ts stdio
 *     node fastmcp.ts http     Streamable HTTP at /mcp, HTTP+SSE at /sse
 */
import * as Net from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { FastMCP, UserError } from "fastmcp"
import { z } from "zod"
import {
  announce,
  daysFrom,
  failure,
  greeting,
  info,
  nameForm,
  namesFrom,
  note,
  sampled,
  transport,
  wait,
  waits
} from "./offer.ts"

const silent = () => {}

const server = new FastMCP({
  ...info,
  logger: { debug: silent, error: silent, info: silent, log: silent, warn: silent },
  ping: { enabled: false }
})

server.addTool({
  name: "add",
  parameters: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  execute: async ({ a, b }) => ({
    content: [{ type: "text" as const, text: String(a + b) }],
    structuredContent: { sum: a + b }
  })
})
server.addTool({
  name: "fail",
  execute: async () => {
    throw new UserError(failure)
  }
})
server.addTool({
  name: "steps",
  parameters: z.object({ count: z.number() }),
  execute: async ({ count }, { reportProgress }) => {
    for (let progress = 1; progress <= count; progress++) await reportProgress({ progress, total: count })
    return "done"
  }
})
server.addTool({
  name: "shout",
  execute: async (_args, { log }) => {
    log.info("Hey")
    return "shouted"
  }
})
server.addTool({
  name: "wait",
  execute: async (_args, { signal }) => {
    await wait(signal)
    return "waited"
  }
})
server.addTool({ name: "waits", execute: async () => String(waits.cancelled) })
server.addTool({
  name: "ask",
  execute: async (_args, { elicit }) => {
    const { action, content } = await elicit({ message: "Who are you?", requestedSchema: nameForm as never })
    return `${action} ${String(content?.["name"])}`
  }
})
server.addTool({
  name: "sample",
  execute: async (_args, { sessionId }) => {
    const session = await sessionOf(sessionId)
    const answer = await session?.requestSampling(sampled as never)
    return answer?.content.type === "text" ? answer.content.text : "nothing"
  }
})
server.addTool({
  name: "roots",
  execute: async (_args, { sessionId }) => {
    const session = await sessionOf(sessionId)
    return (session?.roots ?? []).map(({ uri }) => uri).join()
  }
})

/** The session of a call: tools are not given it, and it is listed some time after it has begun. */
const sessionOf = async (sessionId: string | undefined) => {
  for (let attempts = 0; attempts < 200 && server.sessions.length === 0; attempts++) await sleep(10)
  return server.sessions.find((one) => one.sessionId === sessionId) ?? server.sessions[0]
}

server.addResource({ ...note, load: async () => ({ text: note.textOf("today") }) })
server.addResourceTemplate({
  name: "day",
  uriTemplate: note.template,
  mimeType: note.mimeType,
  arguments: [{ name: "day", required: true, complete: async (typed: string) => ({ values: daysFrom(typed) }) }],
  load: async ({ day }) => ({ text: note.textOf(day) })
})
server.addPrompt({
  name: "greet",
  arguments: [{ name: "name", required: true, complete: async (typed: string) => ({ values: namesFrom(typed) }) }],
  load: async ({ name }) => greeting(name ?? "")
})

/** It can't say which port it was given, so a free one is found first. */
const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = Net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as Net.AddressInfo
      probe.close(() => resolve(port))
    })
  })

if (transport === "stdio") {
  await server.start({ transportType: "stdio" })
} else {
  const port = await freePort()
  await server.start({ transportType: "httpStream", httpStream: { port, host: "127.0.0.1", endpoint: "/mcp" } })
  announce(port)
}
