import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fromFailure, toFailure } from "./failure.ts";

test("code and message of every Connect code survive the frame", () => {
  const codes = Object.values(Code).filter((code) => typeof code === "number");
  fc.assert(
    fc.property(fc.constantFrom(...codes), fc.string(), (code, message) => {
      const error = fromFailure(toFailure(new ConnectError(message, code)));
      expect([error.code, error.rawMessage]).toEqual([code, message]);
    }),
  );
});

test("a number that is not a Connect code becomes unknown", () => {
  fc.assert(
    fc.property(fc.constantFrom(0, 17, 18, 255, 0xffff_ffff), (code) => {
      const failure = { $typeName: "toolgate.call_stream.v1.Failure" as const, code, message: "m" };
      expect(fromFailure(failure).code).toBe(Code.Unknown);
    }),
  );
});
