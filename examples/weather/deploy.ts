/** Asking the person, once, for every revision: a live request up to 2025-11-25, a round of input from 2026-07-28 on. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Schema } from "effect"
import { McpServer, Peer, Step, Tool } from "mcp-effect"
import { Stdio } from "mcp-effect/node"

const Plan = Schema.Struct({ service: Schema.String, machines: Schema.Int })

const DeployTool = Tool.make("deploy", { input: Schema.Struct({ service: Schema.String }) })

const makePlan = (service: string) => Effect.as(Console.log(`planning ${service}`), { service, machines: 3 })

const Deploy = Tool.handle(DeployTool, ({ service }) =>
  Effect.gen(function* () {
    const plan = yield* Step.run("plan", Plan, makePlan(service)) // done once, remembered across rounds
    const answer = yield* Peer.elicit({
      message: `Deploy ${service}?`,
      schema: Schema.Struct({ sure: Schema.Boolean })
    })
    if (answer._tag !== "Accept" || !answer.value.sure) return "not deployed"
    return `deployed ${plan.service} to ${plan.machines} machines`
  })
)

McpServer.layer(McpServer.make({ name: "deploy", version: "1.0.0", tools: [Deploy] })).pipe(
  Layer.provide(Stdio.layerServer),
  Layer.launch,
  NodeRuntime.runMain
)
