/** A JSON Schema (2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A kind of event: what its `data` holds, and when it is sent. */
export interface EventType {
  /** As in the envelope; `custom` stands for all types that begin with `custom.`. */
  readonly type: string;
  /** When it is sent: one sentence for the people who write receivers. */
  readonly sent: string;
  /** Of the member `data`. Every member that is promised is required; others may come at any time. [WVER-2] */
  readonly data: JsonSchema;
  /** The `data` of an event as it is sent. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** An object whose named members are all required; any others may be added. [WVER-2] */
export function object(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties) };
}

export function text(description: string): JsonSchema {
  return { type: "string", description };
}

export function choice(description: string, ...values: string[]): JsonSchema {
  return { type: "string", enum: values, description };
}
