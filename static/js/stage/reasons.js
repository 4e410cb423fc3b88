/** Reasons of filters where there is no room for them. */

/**
 * One word for a reason, where the sentence has no room: it stands in full in the lens and the inspector.
 * @param {string} reason
 * @param {string} plugin
 */
export function shortReason(reason, plugin) {
  const insufficient = /Insufficient ([\w./-]+)/.exec(reason);
  if (insufficient) return (insufficient[1] ?? "").split("/").pop() ?? "";
  if (/too many pods/i.test(reason)) return "pods";
  return SHORT[plugin] ?? plugin.replace(/^(Node|Pod)/, "");
}

/** @type {Record<string, string>} */
const SHORT = {
  TaintToleration: "taint", NodeUnschedulable: "cordon", NodeAffinity: "affinity", NodePorts: "port", NodeName: "name",
  InterPodAffinity: "affinity", PodTopologySpread: "spread", VolumeBinding: "volume", VolumeZone: "zone",
  VolumeRestrictions: "volume", NodeVolumeLimits: "volumes",
  // Eras before the framework.
  NodeLister: "unlisted", PodFitsHostPorts: "port", NoDiskConflict: "volume", NoVolumeZoneConflict: "zone",
  MatchNodeSelector: "affinity", HostName: "name", MaxEBSVolumeCount: "volumes", MaxGCEPDVolumeCount: "volumes",
};

/**
 * A plugin's name where a column is narrow: the one long name loses what its neighbours say too.
 * @param {string} plugin
 */
export function narrowName(plugin) {
  return plugin.replace(/^NodeResources(?=Balanced)/, "");
}
