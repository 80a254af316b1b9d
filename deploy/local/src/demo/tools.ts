/** Tools of the demo workspace: one for each kind and flag. Definitions as the tool API takes them. */
export const DEMO_TOOLS: Record<string, Record<string, unknown>> = {
  greet: {
    description: "Greets somebody by name.",
    external_api: true,
    external_api_description: "Greets somebody. Its webhook tool.completed follows each call.",
    webhook_event: true,
    parameters: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, maxLength: 100 },
        language: { type: "string", enum: ["en", "de", "fr"] },
      },
      required: ["name"],
    },
    external_api_response: {
      type: "object",
      properties: { success: { type: "boolean" }, greeting: { type: "string" } },
    },
    args_fixture: { name: "Ada" },
    handler: `const WORDS = { en: "Hello", de: "Hallo", fr: "Bonjour" };

export default async ({ name, language = "en" }) => ({
  success: true,
  greeting: \`\${WORDS[language]}, \${name}!\`,
});
`,
  },
  find_orders: {
    description: "Finds orders by city.",
    external_api: true,
    parameters: {
      type: "object",
      properties: { city: { type: "string", maxLength: 100 } },
      required: ["city"],
    },
    args_fixture: { city: "Bern" },
    query: "orders_by_city",
  },
  add_order: {
    description: "Adds an order. Writes, so it carries external_api_write and inbound_hook_write.",
    external_api: true,
    external_api_write: true,
    inbound_hook: true,
    inbound_hook_write: true,
    parameters: {
      type: "object",
      properties: {
        customer: { type: "string", minLength: 1, maxLength: 100 },
        city: { type: "string", minLength: 1, maxLength: 100 },
        amount: { type: "number", minimum: 0, maximum: 1_000_000 },
      },
      required: ["customer", "city", "amount"],
    },
    handler: `export default async (args, ctx) => {
  const { rows } = await ctx.executePreparedQuery("insert_order", args);
  await ctx.emitWebhook("order.added", { id: rows[0].id, city: args.city });
  return { success: true, id: rows[0].id };
};
`,
  },
  exchange_rate: {
    description: "Asks a rate service over HTTP: a declarative call.",
    external_api: true,
    parameters: {
      type: "object",
      properties: { currency: { type: "string", pattern: "^[A-Z]{3}$" } },
      required: ["currency"],
    },
    api: { method: "GET", url: "RATE_SERVICE_URL/rates/{{currency}}" },
  },
  city_report: {
    description: "Counts the orders of a city: calls find_orders and an unreleased tool.",
    external_api: true,
    parameters: {
      type: "object",
      properties: { city: { type: "string", maxLength: 100 } },
      required: ["city"],
    },
    handler: `export default async ({ city }, ctx) => {
  const { rows } = await ctx.callTool("find_orders", { city });
  const { total } = await ctx.callTool("sum_amounts", { amounts: rows.map((row) => Number(row.amount)) });
  return { success: true, city, orders: rows.length, total, read_only: ctx.read_only };
};
`,
  },
  sum_amounts: {
    description: "Adds numbers. Not released: only other tools may call it.",
    parameters: {
      type: "object",
      properties: { amounts: { type: "array", items: { type: "number" }, maxItems: 1_000 } },
      required: ["amounts"],
    },
    handler: `export default async ({ amounts }) => ({ success: true, total: amounts.reduce((sum, amount) => sum + amount, 0) });
`,
  },
  sign_guest_book: {
    description: "Writes a line into a sheet, headed by a variable of the workspace.",
    external_api: true,
    external_api_write: true,
    parameters: {
      type: "object",
      properties: {
        row: { type: "integer", minimum: 1, maximum: 1_000 },
        guest: { type: "string", minLength: 1, maxLength: 100 },
      },
      required: ["row", "guest"],
    },
    args_fixture: { row: 1, guest: "Ada" },
    handler: `export default async ({ row, guest }, ctx) => {
  const house = await ctx.variable("HOUSE");
  await ctx.writeToSheet("guests", \`A\${row}:B\${row}\`, [[house, guest]]);
  const { values } = await ctx.readSheet("guests");
  return { success: true, guests: values };
};
`,
  },
  yearly_report: {
    description: "An async tool: its release has no effect, calls to it are refused.",
    external_api: true,
    async: true,
    handler: `export default async () => ({ success: true });
`,
  },
};

/** What a key may list: released and not async. */
export const DEMO_KEY_TOOLS = ["greet", "find_orders", "add_order", "exchange_rate", "city_report", "sign_guest_book"];

export const DEMO_EXAMPLE = { tool: "greet", args: { name: "Ada" } };

export const DEMO_VARIABLES = [{ name: "HOUSE", value: "Toolgate" }];

export const DEMO_QUERIES = [
  {
    name: "orders_by_city",
    sql: "select id, customer, city, amount from orders where city = :city order by id limit 100",
    mode: "QUERY_MODE_READ",
  },
  {
    name: "insert_order",
    sql: "insert into orders (customer, city, amount) values (:customer, :city, :amount) returning id",
    mode: "QUERY_MODE_WRITE",
  },
];
