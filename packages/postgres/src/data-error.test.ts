import { expect, test } from "vitest";
import { isDataError } from "./data-error.ts";

test("only an error in the data itself is a data error", () => {
  for (const code of ["22001", "22P02", "22021", "23505", "23503", "23514"]) expect(isDataError({ code })).toBe(true);
  for (const code of ["40001", "40P01", "57014", "57P01", "53300", "08006", "42P01", "ECONNREFUSED", 22001, undefined])
    expect(isDataError({ code })).toBe(false);
  for (const error of [undefined, null, "22001", new Error("22001")]) expect(isDataError(error)).toBe(false);
});
