import { Code, ConnectError } from "@connectrpc/connect";
import { expect } from "vitest";

/** The code of an RPC's error, or whatever else was thrown. */
export const codeOf = (error: unknown) => (error instanceof ConnectError ? error.code : error);

/** Matches an RPC's error with this code and a message like this. */
export const refusal = (code: Code, text: RegExp) =>
  expect.toSatisfy(
    (error: unknown) => error instanceof ConnectError && error.code === code && text.test(error.rawMessage),
    `${Code[code]} ${text}`,
  );
