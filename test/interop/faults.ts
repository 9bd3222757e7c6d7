/**
 * What peers do wrong, with evidence. A failure that is listed here is theirs; one that is not listed is ours until
 * somebody has shown otherwise; and an entry that matches nothing any more is to be removed.
 */

/** A fault of a peer. */
export interface Fault {
  /** The pairing, as the grid names it: `client → server`, as a pattern. */
  readonly pairing: RegExp
  /** The transports and revisions that it shows in. Default: all. */
  readonly transport?: RegExp | undefined
  readonly revision?: RegExp | undefined
  /** The scenarios that fail because of it. */
  readonly scenario: RegExp
  /** What the peer does, what it should do, and where that can be seen: on the wire, in its source, in its issues. */
  readonly evidence: string
}

/** What is known. */
export const faults: ReadonlyArray<Fault> = [
  {
    pairing: /→ server-everything$/,
    transport: /^stdio$/,
    scenario: /^close$/,
    evidence:
      "server-everything 2026.8.31 does not end at the end of its input while a timer of its runs: one for the log " +
      "messages that toggle-simulated-logging has started (dist/server/logging.js: setInterval), one for the operation " +
      "that was cancelled (dist/tools/trigger-long-running-operation.js looks at no signal). It ends on SIGTERM, which " +
      "it gets after 2 seconds. Wire: → (end of input), ← …notifications/progress of the cancelled request…, " +
      "→ (SIGTERM 2003 ms after the end of input), ← (exit SIGTERM)"
  },
  {
    pairing: /→ fastmcp$/,
    transport: /^http$/,
    scenario: /^roots$/,
    evidence:
      "fastmcp 4.20.16 asks for the roots while it still connects (FastMCPSession.connect: listRoots right after the " +
      "capabilities are known), on the stream that belongs to no request, which no client can have opened before it was " +
      "told its session. The transport of @modelcontextprotocol/sdk 1.32.2 puts the request away for a stream to be " +
      "resumed (server/webStandardStreamableHttp.js: storeEvent) and never sends it. Wire: → initialize with " +
      '"roots":{"listChanged":true}, ← result, → notifications/initialized, → GET /mcp, ← 200, and no roots/list ever'
  },
  {
    pairing: /→ tmcp$/,
    transport: /^stdio$/,
    scenario: /^cancel$/,
    evidence:
      "tmcp 1.20.0 with @tmcp/transport-stdio 0.5.0 cancels no request: src/index.js looks up the id of " +
      "notifications/cancelled only among subscriptions/listen, and gives handlers no ctx.signal. Up to 2025-06-18 it " +
      "also takes requests one at a time (#legacy_queue), so that nothing is answered until the cancelled one has ended. " +
      'Wire: → tools/call wait (id 19), → notifications/cancelled {"requestId":19}, → tools/call waits (id 20), no answer'
  },
  {
    pairing: /→ tmcp$/,
    revision: /^2026-07-28$/,
    scenario: /^roots$/,
    evidence:
      "tmcp 1.20.0 never asks for roots in 2026-07-28, though the revision has roots/list as an input request. Wire: " +
      '← {"error":{"code":-32603,"message":"MCP error -32603: Client roots are not available during per-request ' +
      "(stateless) execution: roots are deprecated in protocol version 2026-07-28 and tmcp does not emit roots/list as " +
      'a multi round-trip input request"}}'
  }
]
