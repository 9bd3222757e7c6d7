/** One bar chart per workload. */
import type { Result, Row } from "../harness/Result.ts"
import { number } from "./text.ts"

const colors: { readonly [role in Row["role"]]: string } = { limit: "#9aa4b2", ours: "#2f6fed", peer: "#d9a441" }

const width = 720
const labelWidth = 150
const valueWidth = 130
const barHeight = 22
const gap = 8
const top = 58

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

const bar = (row: Row, index: number, largest: number, unit: string): string => {
  const y = top + index * (barHeight + gap)
  const length = Math.max(1, (row.value / largest) * (width - labelWidth - valueWidth))
  const middle = y + barHeight / 2 + 5
  return [
    `<text x="${labelWidth - 10}" y="${middle}" text-anchor="end">${escape(row.system)}</text>`,
    `<rect x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="3" fill="${colors[row.role]}"/>`,
    `<text x="${(labelWidth + length + 8).toFixed(1)}" y="${middle}">${number(row.value)} ${unit}</text>`
  ].join("\n")
}

/** The chart of one workload, as the text of an SVG file. */
export const chart = ({ better, rows, title, unit }: Result): string => {
  const largest = Math.max(...rows.map(({ value }) => value))
  const height = top + rows.length * (barHeight + gap) + 12
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#24292f">
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="16" y="24" font-size="15" font-weight="600">${escape(title)}</text>
<text x="16" y="44" fill="#57606a">${unit}, ${better} is better</text>
${rows.map((row, index) => bar(row, index, largest, unit)).join("\n")}
</svg>
`
}
