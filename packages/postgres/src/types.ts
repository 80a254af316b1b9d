import pg from "pg";

const INT8 = 20;

/** bigint as a number: exact below 2^53. */
export const BIGINT_AS_NUMBER: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    oid === INT8 && format !== "binary"
      ? Number
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};
