import { type ExampleCall, KEY_VARIABLE, TIMEOUT_S } from "../example-call.ts";
import { type LiteralStyle, literal } from "../literal.ts";

/** What JSON writes is a string of Python too. */
const STYLE: LiteralStyle = {
  text: JSON.stringify,
  member: (name) => `${JSON.stringify(name)}: `,
  true: "True",
  false: "False",
  null: "None",
  object: () => ["{", "}"],
};

/** [BLD-10] */
export function python({ url, args }: ExampleCall): string {
  return `# call.py, needs the requests package
import os
import requests

response = requests.post(
    ${JSON.stringify(url)},
    headers={"Authorization": f"Bearer {os.environ['${KEY_VARIABLE}']}"},
    json=${literal({ args }, STYLE, "    ")},
    timeout=${TIMEOUT_S},
)
body = response.json()
if not response.ok:
    raise SystemExit(f"{response.status_code}: {body['error']}")
print(body)
`;
}
