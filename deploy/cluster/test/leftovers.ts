import type { Namespace } from "./cluster.ts";

// What Kubernetes itself makes while an installation lives.
const NOT_OURS = /^(events|events\.events\.k8s\.io|leases\.coordination\.k8s\.io|.*\.metrics\.k8s\.io)$/;

/** The objects in a namespace, such as deployment.apps/toolgate-gateway, of every kind that the API server knows. */
export async function objectsIn(namespace: Namespace): Promise<string[]> {
  const options = ["--verbs=list", "--output=name"];
  const kinds = (await namespace.kubectl("api-resources", "--namespaced", ...options)).split("\n");
  const own = kinds.filter((kind) => kind !== "" && !NOT_OURS.test(kind));
  const names = await namespace.kubectl("get", own.join(","), "--output=name");
  return names.split("\n").filter(Boolean).sort();
}
