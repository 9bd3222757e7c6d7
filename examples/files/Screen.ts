/**
 * What the demo prints: headings, labelled lines, and a progress bar that moves in place on a terminal and is a few
 * plain lines elsewhere.
 */
import { Effect } from "effect"

const terminal = process.stdout.isTTY === true

const style = (code: number) => (text: string) => (terminal ? `\x1b[${code}m${text}\x1b[0m` : text)
const bold = style(1)
const dim = style(2)

const write = (text: string) => Effect.sync(() => void process.stdout.write(text))

/** A heading. */
export const heading = (text: string) => write(`\n${bold(text)}\n`)

/** A line of text with a label before it. */
export const line = (label: string, text: string) => write(`  ${dim(label.padEnd(10))}${text}\n`)

/** More lines under the same label. */
export const more = (lines: ReadonlyArray<string>) => Effect.forEach(lines, (text) => line("", text), { discard: true })

const barWidth = 24

/** Makes a progress bar. It is told how far things have come and what is at hand; `text` is where they end. */
export const progressBar = (label: string) => {
  let quarters = 0
  return {
    show: (done: number, total: number, text: string) => {
      const part = total === 0 ? 1 : done / total
      const filled = Math.round(part * barWidth)
      const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)} ${String(Math.round(part * 100)).padStart(3)} %`
      if (terminal) {
        const room = Math.max(0, (process.stdout.columns || 80) - barWidth - 20)
        return write(`\r\x1b[2K  ${dim(label.padEnd(10))}${bar} ${dim(text.slice(0, room))}`)
      }
      if (Math.floor(part * 4) <= quarters) return Effect.void
      quarters = Math.floor(part * 4)
      return line(label, `${bar} ${text}`)
    },
    /** Takes the bar away, where it can be taken away. */
    clear: write(terminal ? "\r\x1b[2K" : "")
  }
}
