/**
 * The generators themselves: what they make is valid where they say so, hostile where they say so, and the same again for
 * the same seed.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as fc from "fast-check"
import { McpClient, McpServer, Tool } from "mcp-effect"
import { Fuzz, McpTest } from "mcp-effect/testing"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import { findNotification, findRequest } from "../../src/revision/Revision.ts"
import { findRevision, revisions } from "../../src/revision/Revisions.ts"
import { Order, versions } from "./subject.ts"

const fuzz = Fuzz.make(fc)
const runs = { numRuns: 200 }

const methodsOf = (messages: ReadonlyArray<JsonRpc.Message>) =>
  new Set(messages.map((message) => ("method" in message ? message.method : "answer")))

describe("messages", () => {
  for (const version of versions) {
    const revision = findRevision(version) ?? revisions[0]!

    it(`of clients are read by ${version}`, () => {
      fc.assert(
        fc.property(fuzz.clientMessage(version), (message) => {
          const parsed = JsonRpc.parse(JSON.stringify(message))
          expect(parsed).not.toBeInstanceOf(JsonRpc.Malformed)
          if (!("method" in message)) return
          const codec = JsonRpc.isRequest(message)
            ? findRequest(revision.clientRequests, message.method)
            : findNotification(revision.clientNotifications, message.method)
          expect(codec?.params.decode(message.params)).toMatchObject({ _tag: "Success" })
        }),
        runs
      )
    })

    it(`of servers are read by ${version}`, () => {
      fc.assert(
        fc.property(fuzz.serverMessage(version), (message) => {
          expect(JsonRpc.parse(JSON.stringify(message))).not.toBeInstanceOf(JsonRpc.Malformed)
          if (!("method" in message)) return
          const codec = JsonRpc.isRequest(message)
            ? findRequest(revision.serverRequests, message.method)
            : findNotification(revision.serverNotifications, message.method)
          expect(codec?.params.decode(message.params)).toMatchObject({ _tag: "Success" })
        }),
        runs
      )
    })

    it(`cover every method of ${version}`, () => {
      const sent = methodsOf(fc.sample(fuzz.clientMessage(version), { numRuns: 600, seed: 1 }))
      const expected = [...Object.keys(revision.clientRequests), ...Object.keys(revision.clientNotifications)]
      expect([...sent].toSorted()).toEqual([...expected, "answer"].toSorted())
    })
  }

  it("are refused for a revision that does not exist", () => {
    expect(() => fuzz.clientMessage("1999-01-01")).toThrow("1999-01-01")
    expect(() => fuzz.result("2026-07-28", "ping")).toThrow("ping")
  })
})

describe("arguments of a tool", () => {
  it("fit it", () => {
    fc.assert(
      fc.property(fuzz.arguments(Order), (args) => {
        expect(Result.isSuccess(Order.decodeInput(args))).toBe(true)
      }),
      runs
    )
  })

  it("that are hostile hardly ever fit it", () => {
    const samples = fc.sample(fuzz.hostileArguments(Order), { numRuns: 300, seed: 1 })
    const fitting = samples.filter((args) => Result.isSuccess(Order.decodeInput(args)))
    expect(fitting.length).toBeLessThan(150)
    const text = samples.map((args) => JSON.stringify(args)).join("\n")
    for (const part of ["__proto__", '"constructor"', "\\ud800", "x".repeat(1000), "[".repeat(100)]) {
      expect(text).toContain(part)
    }
  })

  it("are the same for the same seed, and shrink to what matters", () => {
    const find = (seed: number) =>
      fc.check(
        fc.property(fuzz.arguments(Order), (args) => (args as typeof Order.input.Encoded).amount < 100),
        { numRuns: 1000, seed }
      )
    const [first, again] = [find(7), find(7)]
    expect(first.counterexample).toEqual(again.counterexample)
    const smallest = first.counterexample?.[0] as typeof Order.input.Encoded | undefined
    expect(Object.keys(smallest ?? {}).toSorted()).toEqual(["amount", "name", "size"])
    expect(smallest?.name).toHaveLength(1)
  })

  it("find what is wrong with a tool", async () => {
    const Rate = Tool.make("rate", { input: Schema.Struct({ parts: Schema.Array(Schema.String) }) })
    const server = McpServer.make({
      name: "rates",
      version: "1.0.0",
      logging: false,
      // Wrong for an empty list, which no example in its tests would have had.
      tools: [Tool.handle(Rate, ({ parts }) => Effect.sync(() => (parts[0] as string).toUpperCase()))]
    })
    const details = await fc.check(
      fc.asyncProperty(fuzz.arguments(Rate), (args) =>
        McpClient.McpClient.pipe(
          Effect.flatMap((client) => Effect.result(client.callTool("rate", args))),
          Effect.map(Result.isSuccess),
          Effect.provide(McpTest.layer(server)),
          Effect.runPromise
        )
      ),
      { numRuns: 200, seed: 1 }
    )
    expect(details.counterexample).toEqual([{ parts: [] }])
  })
})

describe("hostile text", () => {
  it("is JSON all the same", () => {
    fc.assert(
      fc.property(fuzz.mutated(fuzz.clientMessage("2025-11-25")), (text) => {
        JSON.parse(text)
      }),
      runs
    )
  })

  it("is the same bytes in chunks", () => {
    const bytes = fc.uint8Array({ minLength: 0, maxLength: 50 })
    fc.assert(
      fc.property(
        bytes.chain((whole) => fc.tuple(fc.constant(whole), fuzz.chunks(fc.constant(whole)))),
        ([whole, chunks]) => {
          expect(new Uint8Array(Buffer.concat(chunks))).toEqual(whole)
        }
      ),
      runs
    )
  })
})
