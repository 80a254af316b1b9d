import type { Namespace } from "./cluster.ts";

const ACCESS = ["ReadWriteMany"];
const CAPACITY = { storage: "20Gi" };

/** What the cluster and the namespace have to have before a profile is installed, besides Secrets. */
export async function prepare(namespace: Namespace, profile: string): Promise<void> {
  if (profile === "gitops") {
    await namespace.api.create(`/api/v1/namespaces/${namespace.name}/serviceaccounts`, {
      metadata: { name: "toolgate" },
    });
  }
  if (profile === "production") await addVolume(namespace, "toolgate-chat-files", "efs");
  if (profile === "single") {
    await addVolume(namespace, "uploads", "");
    await namespace.api.create(`/api/v1/namespaces/${namespace.name}/persistentvolumeclaims`, {
      metadata: { name: "uploads" },
      spec: {
        accessModes: ACCESS,
        storageClassName: "",
        volumeName: `${namespace.name}-uploads`,
        resources: { requests: CAPACITY },
      },
    });
  }
}

/** A volume for one claim. */
async function addVolume({ api, name }: Namespace, claim: string, storageClassName: string): Promise<void> {
  await api.create("/api/v1/persistentvolumes", {
    metadata: { name: `${name}-${claim}` },
    spec: {
      accessModes: ACCESS,
      capacity: CAPACITY,
      storageClassName,
      claimRef: { namespace: name, name: claim },
      nfs: { server: "files.example.com", path: "/" },
    },
  });
}
