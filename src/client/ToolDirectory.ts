/**
 * What a client knows of the server's tools from their listing: how to validate results, and which arguments go into
 * HTTP headers.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as JsonSchemaValidator from "../protocol/JsonSchemaValidator.ts"
import { McpError } from "../protocol/McpError.ts"
import * as ParameterHeader from "../protocol/ParameterHeader.ts"
import type { Tool } from "../protocol/index.ts"

/** A tool that was listed. */
export interface KnownTool {
  readonly tool: Tool
  readonly headers: Result.Result<ReadonlyArray<ParameterHeader.ParameterHeader>, string>
}

/** The tools of a server, as far as they were listed. */
export class ToolDirectory {
  readonly #known = new Map<string, KnownTool>()
  readonly #validators = JsonSchemaValidator.makeCache()
  readonly #capacity: number
  #complete = false

  /** Remembers at most so many tools. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** The tool of this name, if it was listed. */
  find(name: string): KnownTool | undefined {
    return this.#known.get(name)
  }

  /** Whether all tools were listed. */
  get isComplete(): boolean {
    return this.#complete
  }

  /** Says that all tools were listed. */
  complete(): Effect.Effect<void> {
    return Effect.sync(() => {
      this.#complete = true
    })
  }

  /** Forgets everything: the server's tools have changed. */
  clear(): void {
    this.#known.clear()
    this.#complete = false
  }

  /**
   * Learns from a page of the listing, and gives back what may be used: a tool with an invalid `x-mcp-header` is left
   * out, with a warning (HDR-11). Before 2026-07-28 the annotation has no meaning, so nothing is.
   */
  learn(tools: ReadonlyArray<Tool>, era: "legacy" | "modern"): Effect.Effect<ReadonlyArray<Tool>> {
    return Effect.suspend(() => {
      const warnings: Array<string> = []
      const usable = tools.filter((tool) => {
        const headers = era === "modern" ? ParameterHeader.declared(tool.inputSchema) : Result.succeed([])
        if (this.#known.size < this.#capacity) this.#known.set(tool.name, { tool, headers })
        if (Result.isFailure(headers)) warnings.push(`The tool "${tool.name}" is left out: ${headers.failure}`)
        return Result.isSuccess(headers)
      })
      const warn = Effect.forEach(warnings, (warning) => Effect.logWarning(warning), { discard: true })
      return warnings.length === 0 ? Effect.succeed(usable) : Effect.as(warn, usable)
    })
  }

  /** Checks a structured result, and nothing else of it, against the tool's schema (TOOL-19, BUG-90). */
  check(tool: Tool, structured: { readonly value: unknown } | undefined): Effect.Effect<void, McpError> {
    if (tool.outputSchema === undefined) return Effect.void
    if (structured === undefined) {
      return Effect.fail(McpError.decode(`The tool "${tool.name}" declares a structured result but gave none`))
    }
    return Effect.flatMap(
      JsonSchemaValidator.compileValidator(tool.outputSchema, { cache: this.#validators }),
      (validate) => {
        const problem = validate(structured.value)
        return problem === undefined
          ? Effect.void
          : Effect.fail(
              McpError.decode(`The structured result of "${tool.name}" does not fit its output schema: ${problem}`)
            )
      }
    )
  }
}
