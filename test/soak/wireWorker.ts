/**
 * Clients over HTTP that write every byte themselves, honest and otherwise. The argument is the server's port.
 */
import { faults } from "./faults.ts"
import { honest } from "./honest.ts"
import { legacy, modern, textOf, Wire } from "./Wire.ts"
import { act, work } from "./Worker.ts"

const port = Number(process.argv[2])
const behaviours = [...honest, ...faults]

work(async (setting) => {
  const { isOver, random, tally, think } = setting
  const wire = new Wire(port, random.next() < 0.5 ? modern : random.pick(legacy))
  try {
    await wire.initialize()
    const visits = random.between(1, 12)
    for (let visit = 0; visit < visits && !isOver(); visit++) {
      // Whoever was treated wrongly once is of no use as a witness any more.
      if (!(await act(behaviours, wire, setting))) return
      await think()
    }
    if (wire.session !== undefined && random.next() < 0.6) {
      await textOf(await wire.send("DELETE", { "mcp-session-id": wire.session, "mcp-protocol-version": wire.revision }))
    } else tally.fault("clients that leave without a word")
  } catch (cause) {
    tally.failure("connecting", cause)
  } finally {
    wire.close()
  }
})
