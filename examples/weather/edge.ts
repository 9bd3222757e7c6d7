/** As a fetch handler: for workers, Deno, Bun, and every framework that speaks `Request` and `Response`. */
import { Effect, Layer } from "effect"
import { StreamableHttp } from "mcp-effect"
import { Stations } from "./Stations.ts"
import { weather } from "./weather.ts"

const services = Effect.runSync(Effect.scoped(Layer.build(Stations.layer)))

const { handler } = StreamableHttp.toWebHandler(weather, services)

export default { fetch: handler }
