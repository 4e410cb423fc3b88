// Walks through a session with @kubernetes/client-node; prints what it found as one line of JSON.
// Usage: node walk.mjs KUBECONFIG
import { PassThrough, Writable } from "node:stream";
import * as k8s from "@kubernetes/client-node";

const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[2] ?? "");
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const found = {};

/** Resolves when `condition` holds of an event that `listen` hands on. */
const once = (listen) => new Promise((resolve, reject) => listen(resolve, reject));

const nodes = await core.listNode();
found.nodes = nodes.items.map((node) => node.metadata.name);

const documents = [
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "script", namespace: "default" },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: "script" } },
      template: {
        metadata: { labels: { app: "script" } },
        spec: { containers: [{ name: "main", image: "nginx:1.27" }] },
      },
    },
  },
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "script", namespace: "default" }, data: { a: "1" } },
];
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
for (const document of documents) await objects.create(document);

const informer = k8s.makeInformer(
  config,
  "/api/v1/namespaces/default/pods",
  () => core.listNamespacedPod({ namespace: "default", labelSelector: "app=script" }),
  "app=script",
);
const pod = await once((resolve, reject) => {
  const look = (one) => one.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") && resolve(one);
  informer.on("add", look);
  informer.on("update", look);
  informer.on("error", reject);
  informer.start();
});
await informer.stop();
found.owner = pod.metadata.ownerReferences[0].kind;

const patched = await core.patchNamespacedConfigMap(
  { name: "script", namespace: "default", body: [{ op: "add", path: "/data/b", value: "2" }] },
  k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.JsonPatch),
);
found.patched = patched.data;
const applied = await objects.patch(
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "script", namespace: "default" }, data: { c: "3" } },
  undefined, undefined, "script", true, k8s.PatchStrategy.ServerSideApply,
);
found.applied = applied.data;

const watch = new k8s.Watch(config);
found.watched = await once(async (resolve, reject) => {
  const types = [];
  const options = { fieldSelector: "metadata.name=script" };
  const request = await watch.watch("/api/v1/namespaces/default/configmaps", options, (type) => {
    types.push(type);
    if (type === "ADDED") core.deleteNamespacedConfigMap({ name: "script", namespace: "default" }).catch(reject);
    if (type === "DELETED") {
      resolve(types);
      request.abort();
    }
  }, () => {});
});

/** Returns a stream to write to and what was written to it. */
const collector = () => {
  const kept = { text: "" };
  const stream = new Writable({
    write(chunk, _, done) {
      kept.text += chunk;
      done();
    },
  });
  return { kept, stream };
};
found.page = await once(async (resolve, reject) => {
  const forward = new k8s.PortForward(config);
  // Where it ends the client hangs up, before there is an answer.
  const request = new PassThrough();
  request.write("GET / HTTP/1.0\r\n\r\n");
  const page = collector();
  const told = await forward.portForward("default", pod.metadata.name, [80], page.stream, null, request).catch(reject);
  told.on("close", () => resolve(page.kept.text));
});

const exec = new k8s.Exec(config);
const listed = collector();
found.status = await once((resolve, reject) => {
  const command = ["ls", "/"];
  exec.exec("default", pod.metadata.name, "main", command, listed.stream, null, null, false, resolve).catch(reject);
});
found.output = listed.kept.text;
found.refused = await exec
  .exec("default", "nobody", "main", ["ls"], collector().stream, null, null, false)
  .then(() => "opened", (error) => String(error.message ?? error));

const log = new k8s.Log(config);
const printed = collector();
await once((resolve, reject) => {
  printed.stream.on("finish", resolve);
  const options = { follow: false, tailLines: 5 };
  log.log("default", pod.metadata.name, "main", printed.stream, options).catch(reject);
});
found.log = printed.kept.text;

const scale = await apps.readNamespacedDeploymentScale({ name: "script", namespace: "default" });
found.scale = scale.spec.replicas;
found.missing = await core
  .readNamespacedPod({ name: "nobody", namespace: "default" })
  .then(() => 200, (error) => error.code);
await apps.deleteNamespacedDeployment({ name: "script", namespace: "default" });
// Connections that are kept for later requests would keep the process.
process.stdout.write(`${JSON.stringify(found)}\n`, () => process.exit(0));
