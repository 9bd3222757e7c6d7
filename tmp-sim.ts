import { Effect, Fiber } from "effect"
import * as V from "./src/testing/VirtualTime.ts"
import * as RS from "./src/session/RequestState.ts"
const t = performance.now()
console.log(V.run(Effect.gen(function*(){ const f = yield* Effect.forkChild(Effect.sleep("5 seconds")); yield* Effect.sleep("1 hour"); yield* Fiber.join(f); const s = yield* RS.make(); const x = yield* s.seal({answers:{},steps:{}}, "b"); return yield* s.open(x,"b") })))
console.log(V.run(Effect.gen(function*(){ yield* Effect.forkDetach(Effect.sleep("5 hours")); yield* Effect.forkDetach(Effect.die("x")); yield* Effect.sleep(1)})))
console.log(V.run(Effect.never))
console.log(performance.now()-t)
