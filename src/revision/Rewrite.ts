/**
 * Changing plain objects only where they must change: what stays the same stays the same object.
 */

/** Whether a value is a JSON object: no array, not `null`. */
export const isJsonObject = (value: unknown): value is { readonly [member: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Leaves out members. */
export const without = <A extends object>(value: A, members: ReadonlyArray<string>): A => {
  if (!members.some((member) => member in value)) return value
  // Only optional members are ever named, so what is left is still an A.
  return Object.fromEntries(Object.entries(value).filter(([member]) => !members.includes(member))) as A
}

/** Rewrites one member, if it is there. */
export const mapMember = <A extends object, K extends keyof A>(
  value: A,
  member: K,
  rewrite: (value: Exclude<A[K], undefined>) => Exclude<A[K], undefined>
): A => {
  const current = value[member]
  if (current === undefined) return value
  const next = rewrite(current as Exclude<A[K], undefined>)
  return next === current ? value : { ...value, [member]: next }
}

/** Rewrites every item of a list. */
export const mapItems =
  <A>(rewrite: (item: A) => A) =>
  (items: ReadonlyArray<A>): ReadonlyArray<A> => {
    const next = items.map(rewrite)
    return next.every((item, index) => item === items[index]) ? items : next
  }

/** Runs two rewrites after each other. */
export const both =
  <A>(first: (value: A) => A, second: (value: A) => A) =>
  (value: A): A =>
    second(first(value))
