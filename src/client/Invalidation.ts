/**
 * What a notification says is no longer so (CACHE-10).
 */
import type { ServerNotification } from "./Notifications.ts"
import type { ResultCache } from "./ResultCache.ts"
import type { ToolDirectory } from "./ToolDirectory.ts"

/** Makes a listener that drops from the cache what has changed. */
export const invalidate =
  (cache: ResultCache, directory: ToolDirectory) =>
  ({ method, params }: ServerNotification): void => {
    switch (method) {
      case "notifications/tools/list_changed":
        directory.clear()
        return cache.drop(["tools/list"])
      case "notifications/prompts/list_changed":
        return cache.drop(["prompts/list"])
      case "notifications/resources/list_changed":
        return cache.drop(["resources/list", "resources/templates/list"])
      case "notifications/resources/updated":
        return cache.drop(["resources/read"], params.uri)
    }
  }
