import fc from "fast-check";
import { expect, test } from "vitest";
import { argumentValues, isSingleStatement, numberParameters } from "./named-parameters.ts";
import { sqlTokens } from "./sql-tokens.ts";

function bind(sql: string, args: Record<string, unknown>) {
  const { text, names } = numberParameters(sql);
  return { text, values: argumentValues(names, args) };
}

test("[RO] names become numbered parameters, the same name always the same one", () => {
  const bound = bind("select :b, :a where x = :b and y > :a_2", { a: 1, b: "x", a_2: true });
  expect(bound).toEqual({ text: "select $1, $2 where x = $1 and y > $3", values: ["x", 1, true] });
});

test.each([
  "select 'a :b ''c'' :d'",
  'select ":b" from "a "":c"" b"',
  "select x::text, f(a := 1)",
  "-- :a 'b\nselect 1",
  "select 1 -- :a",
  "/* :a /* :b */ ' :c */ select 1",
  "select $$ :a ' $$",
  "select $tag$ :a $$ :b $other$ $tag$",
  "select E'it\\'s :a \\\\', e':b '' \\' :c'",
  "select a[1:n], a[lo:hi], b[f(x):z], a[b[1]:c]",
  "select : a, :1",
])("[RO] %j contains no parameter and stays as it is", (sql) => {
  expect(bind(sql, { a: 1, b: 2, c: 3, d: 4, n: 5 })).toEqual({ text: sql, values: [] });
});

test.each([
  ["select :a::int", "select $1::int", ["a"]],
  ["select x[:a]", "select x[$1]", ["a"]],
  ["select x=:a||:b", "select x=$1||$2", ["a", "b"]],
  ["select foo$a$ , :a , bar$a$", "select foo$a$ , $1 , bar$a$", ["a"]],
  ["select :a -- x\n, :b", "select $1 -- x\n, $2", ["a", "b"]],
  ["select E'\\\\' || :a", "select E'\\\\' || $1", ["a"]],
  ["where x like :a escape'\\' or :b", "where x like $1 escape'\\' or $2", ["a", "b"]],
  ["select name'\\' || :a", "select name'\\' || $1", ["a"]],
])("[RO] %j becomes %j", (sql, text, names) => {
  expect(bind(sql, { a: "a", b: "b" })).toEqual({ text, values: names });
});

test("[RO] a list stays a list, an object is sent as JSON text, a missing or inherited name is null", () => {
  const args = { list: [1, "x", null], object: { a: 1 }, text: "x" };
  const { values } = bind(":list :object :text :none :toString", args);
  expect(values).toEqual([[1, "x", null], '{"a":1}', "x", null, null]);
});

test("[RO] an argument never becomes part of the statement", () => {
  fc.assert(
    fc.property(fc.string(), (a) => {
      expect(bind("select :a", { a })).toEqual({ text: "select $1", values: [a] });
    }),
  );
});

test("[RO] tokens cover the whole of any text, so only parameters are rewritten", () => {
  const sqlLike = fc.array(fc.constantFrom(...`' " $$ $t$ E' \\ -- /* */ :a :: : ; x 1 é $`.split(" "), " ", "\n"));
  fc.assert(
    fc.property(sqlLike, (parts) => {
      const sql = parts.join("");
      const tokens = [...sqlTokens(sql)];
      expect(tokens.map(({ start, end }) => sql.slice(start, end)).join("")).toBe(sql);
      for (const { start, end } of tokens) expect(end).toBeGreaterThan(start);
    }),
    { numRuns: 500 },
  );
});

test.each(["select 1", "select 1;", "select 1 ; -- done", "select ';', $$;$$", "/* ; */ select 1;;"])(
  "[RO-3] %j is one statement",
  (sql) => {
    expect(isSingleStatement(sql)).toBe(true);
  },
);

test.each([
  "select 1; select 2",
  "select ''; drop table x",
  "select 1; /* x */ :a",
  "select E'\\\\'; select 2",
  "select '\\'; select 2",
  "/* /* */ */ select 1; select 2",
  "select 'open",
  "select $$open",
  "select 1 /* open /* */",
  "select E'open\\'",
  "",
  " ; ",
  "-- only",
])("[RO-3] %j is not one statement", (sql) => {
  expect(isSingleStatement(sql)).toBe(false);
});
