/** The limit in memory: parse, answer, write. */
import type { OpenLink } from "../echo.ts"
import { answer } from "./answer.ts"

export const open: OpenLink = async (_era, receive) => {
  const notify = (notification: object) => receive(JSON.stringify(notification))
  return {
    send: (text) => {
      const response = answer(JSON.parse(text), notify)
      if (response !== undefined) receive(JSON.stringify(response))
    }
  }
}
