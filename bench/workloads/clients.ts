/** Clients, all against the same raw server. */
import * as ClientDriver from "../harness/ClientDriver.ts"
import { textOf } from "../harness/messages.ts"
import { contest, type Workload } from "../harness/Workload.ts"
import { type Era, versions } from "../systems/echo.ts"

const client = (era: Era, transport: "stdio" | "http", inFlight: number, quick: boolean): Workload =>
  contest({
    name: `client-${transport}-${inFlight}-${era}`,
    title: `Client over ${transport === "http" ? "HTTP" : "stdio"}, ${versions[era]}, 100 B, ${
      inFlight === 1 ? "one after the other" : `${inFlight} in flight`
    }, raw server`,
    quick,
    includes: (system) => system.hasClient && system.everywhere && system.eras.includes(era),
    open: ({ folder }) => ClientDriver.open(folder, { era, transport, inFlight, text: textOf(100) })
  })

export const workloads: ReadonlyArray<Workload> = (["legacy", "modern"] as const).flatMap((era) => [
  client(era, "stdio", 1, false),
  client(era, "stdio", 64, era === "legacy"),
  client(era, "http", 1, false),
  client(era, "http", 64, era === "legacy")
])
