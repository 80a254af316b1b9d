import { argv } from "node:process";
import { loopbackFetch, post } from "./sending.ts";

await using safeFetch = loopbackFetch({ resolver: async () => ["127.0.0.1"] });
for (const url of argv.slice(2)) {
  const result = await safeFetch.send(post(url));
  console.log(result.kind, result.kind === "response" ? result.status : "code" in result ? result.code : "");
}
