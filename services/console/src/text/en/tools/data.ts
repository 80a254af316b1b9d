export const DATA = {
  save: "Save",
  edit: "Edit",
  delete: "Delete",
  saved: (name: string) => `${name} is saved`,
  deleted: (name: string) => `${name} is deleted`,
  deleteTitle: (name: string) => `Delete ${name}?`,
  name: "Name",
  nameHint: "1 to 64 letters, digits and underscores, with no digit first.",
} as const;

export const VARIABLES = {
  title: "Variables",
  create: "Add variable",
  empty: "No variables yet",
  emptyText:
    "A variable is a text that tools read: with ctx.variable(name) in a handler, as {{variable:NAME}} in an API call.",
  value: "Value",
  valueHint: "At most 8,192 characters. Every member can read it; what must stay secret belongs to the secrets.",
  deleteText: "Tools that read it fail from their next run on.",
} as const;

export const SECRETS = {
  title: "Secrets",
  create: "Add secret",
  replace: "Replace",
  empty: "No secrets yet",
  emptyText:
    "A secret is a value, such as another company’s API key, that tools send but cannot read. They name it as {{secret:NAME}}, and it is filled in only for the hosts that you list.",
  value: "Value",
  valueHint: "8 to 8,192 characters. It is stored sealed, and nobody can show it again.",
  hosts: "Hosts",
  hostsHint:
    "1 to 20, one per line: api.example.com means https on port 443. A call that names the secret and goes elsewhere fails.",
  usage: "In a tool",
  saved: "Saved",
  adminsOnly: "Only admins of the workspace can add or change secrets.",
  deleteText: "Calls that name it fail from the next run on. Its value is erased.",
} as const;

export const QUERIES = {
  title: "Queries",
  create: "Add query",
  empty: "No queries yet",
  emptyText:
    "A prepared query is one SQL statement on the workspace’s own database. Tools run it by its name, and nothing else reaches the database.",
  nameHint: "1 to 64 letters, digits, underscores and hyphens.",
  mode: "Mode",
  read: "Reads only",
  write: "May write",
  modeHint: "One that reads runs in a read-only transaction. One that may write is refused in read-only runs.",
  sql: "SQL",
  sqlHint: "One statement. Parameters are written :name.",
  parameters: "Parameters for a dry run",
  parametersHint: "A JSON object with a value for each :name.",
  dryRun: "Dry run",
  running: "Running…",
  dryRunText: "The statement runs in a transaction that is rolled back.",
  rows: (count: number, milliseconds: number) =>
    `${count === 1 ? "1 row" : `${count.toLocaleString("en")} rows`} in ${milliseconds} ms`,
  firstRows: (count: number) => `The first ${count} are shown.`,
  deleteText: "Tools that use it fail from their next run on.",
} as const;

export const SOURCE = {
  title: "Data source",
  none: "The workspace has no data source yet. Queries and tools of the kind “query” need one: a PostgreSQL database of yours.",
  set: "Set data source",
  replace: "Replace",
  test: "Test connection",
  testing: "Connecting…",
  works: (version: string, milliseconds: number) => `${version} answered after ${milliseconds} ms`,
  url: "URL",
  urlHint:
    "postgres://user:password@host:port/database, over TLS. It is stored sealed, and its password is never shown. Use a database user with few rights.",
  saved: "The data source is saved",
  at: (user: string, host: string, port: number, database: string) =>
    `${user} at ${host}:${port}, database ${database}`,
} as const;

export const SHEETS = {
  title: "Sheets",
  empty: "No sheets yet",
  emptyText:
    "A sheet is a table of cells that tools fill with ctx.writeToSheet. It appears here after its first write.",
  range: "Range",
  rangeHint: "Such as A1:F100, at most 10,000 cells. Empty means everything up to the last filled cell.",
  nothing: "All cells of this range are empty.",
  deleteText: "All its cells are erased. Tools that read it find nothing.",
} as const;
