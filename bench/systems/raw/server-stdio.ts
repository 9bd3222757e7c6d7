/** The limit over pipes: split into lines, parse, answer, write what came of one chunk at once. */
import { answer } from "./answer.ts"

let rest = ""
process.stdin.setEncoding("utf8")
process.stdin.on("data", (chunk: string) => {
  let output = ""
  const notify = (notification: object) => {
    output += JSON.stringify(notification) + "\n"
  }
  let start = 0
  let end = chunk.indexOf("\n")
  if (end < 0) {
    rest += chunk
    return
  }
  while (end >= 0) {
    const response = answer(JSON.parse(rest + chunk.slice(start, end)), notify)
    rest = ""
    if (response !== undefined) output += JSON.stringify(response) + "\n"
    start = end + 1
    end = chunk.indexOf("\n", start)
  }
  rest = chunk.slice(start)
  process.stdout.write(output)
})
