/**
 * The JSON form of a schema as MCP wants it on the wire.
 *
 * `Schema.toCodecJson` writes what JSON lacks in its own way: `undefined` as `null`, `NaN` as a string. In a published
 * schema that makes every optional property nullable and every number "a number or one of three strings", and checks and
 * descriptions of such nodes are lost. Here an optional property that is `undefined` is absent, a number is a number
 * (encoding `NaN` fails), and descriptions follow a value to its encoded side.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaTransformation from "effect/SchemaTransformation"

type AST = SchemaAST.AST
type Annotations = Schema.Annotations.Annotations

/**
 * The codec between a schema's type and JSON. {@link JsonSchema.fromSchema} describes its encoded side.
 *
 * The schemas that this is for need no services; who takes one from a user has its type say so. Throws a `TypeError` for
 * a schema that has no JSON form, such as one of functions or symbols as property names.
 */
export const make = <S extends Schema.Constraint>(schema: S): Schema.Codec<S["Type"], unknown> => {
  const lowered = Schema.toCodecJson(Schema.make<Schema.Constraint>(walk(schema.ast, exact)))
  return Schema.make<Schema.Codec<S["Type"], unknown>>(walk(lowered.ast, carry), { schema })
}

/** What to do with a node once its children are done. `recur` does a child. */
type Step = (ast: AST, recur: (ast: AST) => AST) => AST

/** Applies a step to every node that has a JSON form of its own; same nodes in, same nodes out. */
const walk = (root: AST, step: Step): AST => {
  const done = new Map<AST, AST>()
  const recur = (ast: AST): AST => {
    const known = done.get(ast)
    if (known !== undefined) return known
    const out = step(ast, recur)
    done.set(ast, out)
    return out
  }
  return recur(root)
}

/** First step, before lowering: says exactly what JSON can hold. */
const exact: Step = (ast, recur) => {
  if (ast.encoding !== undefined) return mapLastLink(ast, recur)
  switch (ast._tag) {
    case "Number":
      return finite(ast)
    case "Objects":
      return mapChildren(ast, (child) => absentWhenUndefined(recur(child)))
    case "Declaration":
      if (!Predicate.isFunction(ast.annotations?.toCodecJson ?? ast.annotations?.toCodec)) {
        throw new TypeError(`${nameOf(ast)} has no JSON form: it needs an encoding or a "toCodecJson" annotation`)
      }
      return mapChildren(ast, recur)
    default:
      return mapChildren(ast, recur)
  }
}

/** Second step, after lowering: takes descriptions along to the encoded side. */
const carry: Step = (ast, recur) => {
  if (ast.encoding === undefined) return mapChildren(ast, recur)
  const carried = Object.entries(SchemaAST.resolve(ast) ?? {}).filter(([key]) => followsValue(key))
  return mapLastLink(ast, (to) => annotateMissing(recur(to), carried))
}

const followsValue = (key: string) => key === "title" || key === "description" || key.startsWith("x-")

const annotateMissing = (ast: AST, entries: ReadonlyArray<[string, unknown]>): AST => {
  const present = SchemaAST.resolve(ast) ?? {}
  const missing = entries.filter(([key]) => present[key] === undefined)
  return missing.length === 0 ? ast : annotate(ast, Object.fromEntries(missing))
}

const nameOf = (ast: AST): string =>
  SchemaAST.resolveIdentifier(ast) ??
  SchemaAST.resolveTitle(ast) ??
  String(ast.annotations?.expected ?? "A declaration")

/** A copy of a node, which keeps the methods that its class has. */
const replace = <A extends AST>(ast: A, changes: { readonly [member: string]: unknown }): A =>
  Object.assign(Object.create(Object.getPrototypeOf(ast)), ast, changes)

const annotate = (ast: AST, annotations: Annotations): AST => {
  const checks = ast.checks
  const last = checks?.at(-1)
  return checks === undefined || last === undefined
    ? replace(ast, { annotations: { ...ast.annotations, ...annotations } })
    : replace(ast, { checks: [...checks.slice(0, -1), last.annotate(annotations)] })
}

const mapLastLink = (ast: AST, f: (ast: AST) => AST): AST => {
  const encoding = ast.encoding as SchemaAST.Encoding
  const last = encoding[encoding.length - 1] as SchemaAST.Link
  const to = f(last.to)
  if (to === last.to) return ast
  return replace(ast, { encoding: [...encoding.slice(0, -1), new SchemaAST.Link(to, last.transformation)] })
}

const mapChildren = (ast: AST, f: (ast: AST) => AST): AST => {
  switch (ast._tag) {
    case "Declaration": {
      const typeParameters = mapSame(ast.typeParameters, f)
      return typeParameters === ast.typeParameters ? ast : replace(ast, { typeParameters })
    }
    case "Arrays": {
      const elements = mapSame(ast.elements, f)
      const rest = mapSame(ast.rest, f)
      return elements === ast.elements && rest === ast.rest ? ast : replace(ast, { elements, rest })
    }
    case "Objects": {
      const properties = mapSame(ast.propertySignatures, (property) => {
        const type = f(property.type)
        return type === property.type ? property : new SchemaAST.PropertySignature(property.name, type)
      })
      const indexes = mapSame(ast.indexSignatures, (index) => {
        const type = f(index.type)
        return type === index.type ? index : new SchemaAST.IndexSignature(index.parameter, type)
      })
      return properties === ast.propertySignatures && indexes === ast.indexSignatures
        ? ast
        : new SchemaAST.Objects(
            properties,
            indexes,
            ast.annotations,
            ast.checks,
            ast.encoding,
            ast.context,
            ast.encodingChecks
          )
    }
    case "Union": {
      const types = mapSame(ast.types, f)
      return types === ast.types
        ? ast
        : new SchemaAST.Union(
            types,
            ast.options,
            ast.annotations,
            ast.checks,
            ast.encoding,
            ast.context,
            ast.encodingChecks
          )
    }
    case "Suspend":
      return new SchemaAST.Suspend(() => f(ast.thunk()), ast.annotations, ast.checks, ast.encoding, ast.context)
    default:
      return ast
  }
}

const mapSame = <A>(values: ReadonlyArray<A>, f: (value: A) => A): ReadonlyArray<A> => {
  const out = values.map(f)
  return out.some((value, index) => value !== values[index]) ? out : values
}

/** `NaN` and the infinities have no JSON form, so a number is checked to be finite. */
const finite = (ast: SchemaAST.Number): AST => {
  if (ast.checks?.some(impliesFinite)) return ast
  return ast.checks === undefined
    ? new SchemaAST.Number(undefined, [Schema.isFinite(ast.annotations)], undefined, ast.context)
    : new SchemaAST.Number(ast.annotations, [Schema.isFinite(), ...ast.checks], undefined, ast.context)
}

const impliesFinite = (check: SchemaAST.Check<never>): boolean => {
  if (check._tag === "FilterGroup") return check.checks.some(impliesFinite)
  const representation = check.annotations?.representation
  const id = Predicate.hasProperty(representation, "id") ? representation.id : undefined
  return id === "effect/schema/isFinite" || id === "effect/schema/isInt"
}

const omitUndefined = new SchemaTransformation.Transformation(
  SchemaGetter.passthrough<unknown>(),
  SchemaGetter.transformOptional<unknown, unknown>(Option.filter((value) => value !== undefined))
)

/** Takes `undefined` out of the encoded side of an optional property: it is absent instead. */
const absentWhenUndefined = (ast: AST): AST => {
  if (ast.encoding !== undefined) return mapLastLink(ast, absentWhenUndefined)
  if (!SchemaAST.isOptional(ast)) return ast
  const defined = withoutUndefined(ast)
  return defined === ast || defined === undefined
    ? ast
    : SchemaAST.decodeTo(inContext(defined, ast.context), SchemaAST.toType(ast), omitUndefined)
}

/** A node is optional when its encoded side is, so the context goes to both. */
const inContext = (ast: AST, context: SchemaAST.Context | undefined): AST => {
  const out = replace(ast, { context })
  return out.encoding === undefined ? out : mapLastLink(out, (to) => inContext(to, context))
}

/** The node without `undefined`, or `undefined` when nothing else is in it. */
const withoutUndefined = (ast: AST): AST | undefined => {
  if (ast.encoding !== undefined || ast.checks !== undefined) return ast
  if (SchemaAST.isUndefined(ast)) return undefined
  if (!SchemaAST.isUnion(ast)) return ast
  const types = ast.types.map(withoutUndefined)
  if (types.every((type, index) => type === ast.types[index])) return ast
  const [first, ...others] = types.filter((type) => type !== undefined)
  if (first === undefined) return undefined
  if (others.length > 0) return new SchemaAST.Union([first, ...others], ast.options, ast.annotations)
  return annotateMissing(first, Object.entries(ast.annotations ?? {}))
}
