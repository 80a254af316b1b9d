import { isInNetworks, type Network, parseNetwork } from "@toolgate/ip-address/network";
import type { Manifest, Rendered } from "../helm.ts";
import { type ProcessFacts, singleProcess, splitProcesses } from "../processes.ts";
import { type PodOf, podsOf } from "./pods.ts";

interface Peer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  readonly podSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly namespaceSelector?: object;
}
interface Rule {
  readonly to?: readonly Peer[];
  readonly from?: readonly Peer[];
  readonly ports?: readonly { readonly port: number | string; readonly protocol: string }[];
}

/** Addresses that no process may reach unless a profile lists them. */
export const PRIVATE_ADDRESSES = [
  ...["0.0.0.1", "10.0.0.1", "10.255.255.254", "100.64.0.1", "127.0.0.1", "168.63.129.16", "169.254.169.254"],
  ...["172.16.0.1", "172.31.255.254", "192.0.0.8", "192.168.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255"],
  ...["::1", "64:ff9b::a00:1", "fc00::1", "fd00:ec2::254", "fe80::1", "ff02::1", "2001:db8::1", "2002:a00:1::1"],
];
export const PUBLIC_ADDRESSES = ["1.1.1.1", "172.15.0.1", "172.32.0.1", "223.255.255.1", "2606:4700::1111", "2a00::1"];

/** Every process has one policy, which lets it reach and be reached by exactly what it needs. */
export function networkFaults(rendered: Rendered): string[] {
  const { manifests, values } = rendered;
  if (values.networkPolicy?.enabled === false) return [];
  const known: Record<string, ProcessFacts> = { ...splitProcesses(), toolgate: singleProcess() };
  const policies = manifests.filter(({ kind }) => kind === "NetworkPolicy");
  const pods = podsOf(rendered);
  const faults = policies.flatMap(addressFaults);
  for (const pod of pods) {
    const own = policies.filter(({ spec }) => hasLabels(pod.labels, spec.podSelector.matchLabels));
    const name = pod.owner.metadata.name;
    if (own.length !== 1 || own[0]?.spec.policyTypes.join() !== "Ingress,Egress") {
      faults.push(`${name}: must have one policy for both directions, has ${own.length}`);
      continue;
    }
    const { egress = [], ingress = [] } = own[0].spec as { egress?: Rule[]; ingress?: Rule[] };
    const facts = known[component(pod)];
    if (facts?.isBare && egress.length > 0) faults.push(`${name}: must reach nothing, not even DNS`);
    for (const protocol of facts?.isBare ? [] : ["UDP", "TCP"]) {
      const asksNames = egress.some(({ ports = [] }) =>
        ports.some((one) => one.port === 53 && one.protocol === protocol),
      );
      if (!asksNames) faults.push(`${name}: no DNS over ${protocol}`);
    }
    faults.push(...reachFaults(name, egress, facts, values));
    if (facts) faults.push(...peerFaults(pod, { egress, ingress, pods, policies, known }));
  }
  return faults;
}

const component = ({ labels }: PodOf) => labels["app.kubernetes.io/component"] ?? "";

function hasLabels(labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

/** Networks are written as Kubernetes takes them, and exceptions lie within their network. */
function addressFaults({ metadata, spec }: Manifest): string[] {
  const rules: Rule[] = [...(spec.egress ?? []), ...(spec.ingress ?? [])];
  const blocks = rules.flatMap(({ to = [], from = [] }) => [...to, ...from].flatMap(({ ipBlock }) => ipBlock ?? []));
  return blocks.flatMap(({ cidr, except = [] }) => {
    const network = parseNetwork(cidr);
    if ("fault" in network) return [`${metadata.name}: ${cidr} ${network.fault}`];
    return except.flatMap((inner) => {
      const excepted = parseNetwork(inner);
      if ("fault" in excepted) return [`${metadata.name}: ${inner} ${excepted.fault}`];
      const within = isInNetworks([network], excepted[0].toString()) && excepted[1] > network[1];
      return within ? [] : [`${metadata.name}: ${inner} is not within ${cidr}`];
    });
  });
}

function allows(egress: readonly Rule[], address: string): boolean {
  return egress.some(({ to }) => {
    if (!to) return true;
    return to.some(({ ipBlock }) => {
      if (!ipBlock) return false;
      const networks = (texts: readonly string[]) =>
        texts.map(parseNetwork).filter((one): one is Network => !("fault" in one));
      return isInNetworks(networks([ipBlock.cidr]), address) && !isInNetworks(networks(ipBlock.except ?? []), address);
    });
  });
}

/** What a profile itself lists. */
function listedRules(values: Rendered["values"]): Rule[] {
  const { servers = {}, modelServers = [], dataSources = [], extraEgress = [] } = values.networkPolicy ?? {};
  const ofServers = (Object.values(servers) as { to?: Peer[] }[]).map(({ to = [] }) => ({ to }));
  return [...ofServers, { to: modelServers }, { to: dataSources }, ...extraEgress];
}

function reachFaults(
  name: string,
  egress: readonly Rule[],
  facts: ProcessFacts | undefined,
  values: Rendered["values"],
) {
  const listed = listedRules(values);
  const { internet = true, modelServers = [] } = values.networkPolicy ?? {};
  const isPublic =
    (facts?.reachesInternet ?? false) && internet && !(facts?.service === "chat" && modelServers.length > 0);
  return [
    ...PRIVATE_ADDRESSES.filter((address) => allows(egress, address) && !allows(listed, address)).map(
      (address) => `${name}: reaches the private address ${address}`,
    ),
    ...PUBLIC_ADDRESSES.filter((address) => allows(egress, address) !== isPublic && !allows(listed, address)).map(
      (address) => `${name}: ${isPublic ? "does not reach" : "reaches"} the public address ${address}`,
    ),
  ];
}

interface Neighbours {
  readonly egress: readonly Rule[];
  readonly ingress: readonly Rule[];
  readonly pods: readonly PodOf[];
  readonly policies: readonly Manifest[];
  readonly known: Readonly<Record<string, ProcessFacts>>;
}

/** A process reaches the RPC ports of its peers and of nobody else, and only callers reach its own. */
function peerFaults(pod: PodOf, { egress, ingress, pods, known }: Neighbours): string[] {
  const name = pod.owner.metadata.name;
  const facts = known[component(pod)];
  return pods.flatMap((other) => {
    const otherFacts = known[component(other)];
    if (!facts || !otherFacts || other === pod) return [];
    const calls = Object.values(facts.peers).some(({ process }) => process === component(other));
    const isCalled = Object.values(otherFacts.peers).some(({ process }) => process === component(pod));
    const selects = (peers: readonly Peer[] = []) =>
      peers.some(({ podSelector }) => podSelector?.matchLabels && hasLabels(other.labels, podSelector.matchLabels));
    const reaches = egress.some(
      ({ to, ports }) => selects(to) && ports?.some(({ port }) => port === otherFacts.ports.rpc),
    );
    const admits = ingress.some(({ from, ports }) => selects(from) && ports?.some(({ port }) => port === "rpc"));
    return [
      ...(reaches === calls ? [] : [`${name}: ${calls ? "cannot reach" : "reaches"} ${component(other)}`]),
      ...(admits === isCalled ? [] : [`${name}: ${isCalled ? "refuses" : "admits"} ${component(other)}`]),
    ];
  });
}
