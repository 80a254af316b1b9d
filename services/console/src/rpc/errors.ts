import { Code, ConnectError } from "@connectrpc/connect";

/** What to show of a failed call. */
export interface Failure {
  /** The form field that the server refused, by its name in the proto file, or "". */
  field: string;
  message: string;
  requestId: string;
  /** Somebody else saved the object after this form was opened. */
  isConflict: boolean;
}

const FIELD = /^([a-z_]+(?:\.[a-z_]+)*): (.+)$/s;

export function failureOf(error: unknown): Failure {
  const { rawMessage, code, metadata, cause } = ConnectError.from(error);
  const requestId = metadata.get("x-request-id") ?? "";
  // What fetch throws when no answer came; a TypeError of the page itself is no failed call.
  if (error instanceof ConnectError && cause instanceof TypeError)
    return { field: "", message: "Toolgate cannot be reached.", requestId, isConflict: false };
  const [, field = "", text = rawMessage] = code === Code.InvalidArgument ? (FIELD.exec(rawMessage) ?? []) : [];
  // Who saved a newer version comes first in a conflict, and email addresses stay as they are.
  const message = /^\S+@/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return { field, message, requestId, isConflict: code === Code.Aborted };
}
