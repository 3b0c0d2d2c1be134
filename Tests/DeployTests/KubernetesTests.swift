import FarmConfiguration
import FarmHarness
import Foundation
import Testing
import Yams

/// Checks the Kubernetes manifests without a cluster: referenced objects exist, and values in different files agree.
struct KubernetesTests {
    private static let folder = "kubernetes"

    private static func kustomization(_ folder: String = folder) throws -> Node {
        try #require(try DeployFolder.documents(folder + "/kustomization.yaml").first)
    }

    private static func manifests() throws -> Manifests {
        let own = try kustomization()["resources"]?.items.compactMap(\.string) ?? []
        return try Manifests(own + ["redis/redis.yaml"])
    }

    private static func pod() throws -> Node {
        try #require(try manifests().one("Deployment", "pushfarm")["spec", "template", "spec"])
    }

    private static func container() throws -> Node {
        try #require(try pod()["containers", "0"])
    }

    private static func farm() throws -> Configuration {
        try Configuration.read(
            try DeployFolder.text("kubernetes/pushfarm.yaml").replacingOccurrences(
                of: "redis_password_file: redis.secret", with: ""),
            file: "/etc/pushfarm/pushfarm.yaml",
            environment: try environment())
    }

    /// The environment variables of a pod with an example name and address.
    private static func environment() throws -> [String: String] {
        var variables: [String: String] = [:]
        for variable in try container()["env"]?.items ?? [] {
            let name = try #require(variable["name"]?.string)
            let text: String =
                switch variable["valueFrom", "fieldRef", "fieldPath"]?.string {
                case "metadata.name": "pushfarm-6f7b9c-x2x4q"
                case "status.podIP": "10.1.2.3"
                default: try #require(variable["value"]?.string)
                }
            // In the value of a variable, Kubernetes replaces references to variables that are listed before it.
            variables[name] = variables.reduce(text) {
                $0.replacingOccurrences(of: "$(\($1.key))", with: $1.value)
            }
        }
        return variables
    }

    @Test func `the kustomization lists exactly the files of its folder`() throws {
        let kustomization = try Self.kustomization()
        let named =
            (kustomization["resources"]?.items ?? []) + (kustomization["components"]?.items ?? [])
            + (kustomization["configMapGenerator", "0", "files"]?.items ?? [])
        let besides = ["kustomization.yaml", "prometheus-adapter.yaml"]
        #expect(
            Set(named.compactMap(\.string) + besides) == Set(try DeployFolder.files(Self.folder)))
        #expect(
            try Self.kustomization(Self.folder + "/redis")["resources"]?.items.compactMap(\.string)
                == ["redis.yaml"])
    }

    @Test func `the coordinator accepts the configuration, and its files are mounted`() throws {
        let farm = try Self.farm()
        #expect(farm.host == "pushfarm-6f7b9c-x2x4q")
        let app = try #require(farm.apps.first)
        guard case .key(let key, _, _) = app.credentials else {
            Issue.record("no key")
            return
        }
        let mounts = try Self.container()["volumeMounts"]?.items ?? []
        let mount = try #require(mounts.first { $0["name"]?.string == "configuration" })
        let place = try #require(mount["mountPath"]?.string)
        let volume = try #require(
            try Self.pod()["volumes"]?.items.first { $0["name"]?.string == "configuration" })
        var files: [String] = []
        for source in volume["projected", "sources"]?.items ?? [] {
            if let name = source["configMap", "name"]?.string {
                let generated = try Self.kustomization()["configMapGenerator", "0"]
                #expect(generated?["name"]?.string == name)
                files += generated?["files"]?.items.compactMap(\.string) ?? []
            }
            files += source["secret", "items"]?.items.compactMap { $0["path"]?.string } ?? []
        }
        #expect(files.contains("pushfarm.yaml") && files.contains("redis.secret"))
        #expect(key.hasPrefix(place + "/") && files.contains(String(key.dropFirst(place.count + 1))))
        // Every user in the volume's group may write to the volume, so the coordinator makes a folder for its state in the
        // volume.
        #expect(mounts.contains { farm.stateDirectory == ($0["mountPath"]?.string ?? "") + "/state" })
    }

    @Test func `Redis has the address that the configuration names`() throws {
        let service = try Self.manifests().one("Service", "pushfarm-redis")
        let port = try #require(service["spec", "ports", "0", "port"]?.int)
        #expect("\(try #require(try Self.farm().redis))" == "redis://pushfarm-redis:\(port)/0")
        let set = try Self.manifests().one("StatefulSet", "pushfarm-redis")
        #expect(set["spec", "serviceName"]?.string == "pushfarm-redis")
        let labels = set["spec", "template", "metadata", "labels"]
        #expect(labels == service["spec", "selector"])
        let script = try #require(
            set["spec", "template", "spec", "containers", "0", "args", "0"]?.string)
        for word in ["--maxmemory-policy noeviction", "--appendonly yes"] { #expect(script.contains(word)) }
    }

    @Test func `a pod is unprivileged, and Kubernetes sets no PUSHFARM_ variable`() throws {
        let pod = try Self.pod()
        let container = try Self.container()
        let dockerfile = try DeployFolder.text("docker/Dockerfile")
        let user = try #require(pod["securityContext", "runAsUser"]?.int)
        #expect(dockerfile.contains("\nUSER \(user):\(user)\n"))
        #expect(pod["securityContext", "runAsNonRoot"]?.bool == true)
        #expect(container["securityContext", "readOnlyRootFilesystem"]?.bool == true)
        #expect(container["securityContext", "allowPrivilegeEscalation"]?.bool == false)
        #expect(container["securityContext", "capabilities", "drop", "0"]?.string == "ALL")
        // If enableServiceLinks is not false, Kubernetes sets a PUSHFARM_ variable for each Service.
        // The coordinator refuses such variables as unknown keys.
        #expect(pod["enableServiceLinks"]?.bool == false)
        #expect(throws: ConfigurationError.self) {
            try Configuration.read(
                DeployFolder.text("kubernetes/pushfarm.yaml"), file: "/etc/pushfarm/pushfarm.yaml",
                environment: ["PUSHFARM_REDIS_SERVICE_HOST": "10.0.0.1"])
        }
    }

    @Test func `the probes use the coordinator's paths and port`() throws {
        let container = try Self.container()
        for (name, path) in [
            ("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz"),
        ] {
            #expect(container[name, "httpGet", "path"]?.string == path)
            #expect(container[name, "httpGet", "port"]?.string == container["ports", "0", "name"]?.string)
        }
        let port = try #require(container["ports", "0", "containerPort"]?.int)
        #expect(try Self.farm().metrics == .tcp(host: "10.1.2.3", port: UInt16(port)))
        let service = try Self.manifests().one("Service", "pushfarm-metrics")
        #expect(service["spec", "ports", "0", "port"]?.int == port)
    }

    @Test func `preStop runs an existing command, and the grace period is long enough`() async throws {
        let folder = try TestFolder()
        let script = try #require(
            try Self.container()["lifecycle", "preStop", "exec", "command", "2"]?.string)
        let words = script.replacingOccurrences(of: "exec ", with: "").split(separator: " ").map(String.init)
        #expect(words.first == "pushfarm")
        let help = try Child("help", BuiltProgram.path, words.dropFirst() + ["--help"], in: folder.path)
        #expect(try await help.wait() == .exited(0), "\(words)")
        for option in words where option.hasPrefix("--") { #expect(help.output.contains(option)) }
        let gracePeriod = try #require(words.last.flatMap { Int($0) })
        // After this command the coordinator needs at most 40 s to shut down. The units of other service managers allow 40 s too.
        #expect(try #require(try Self.pod()["terminationGracePeriodSeconds"]?.int) >= gracePeriod + 40)
    }

    @Test func `the autoscaler uses the metric that the adapter makes`() throws {
        let metric = try Self.manifests().one("HorizontalPodAutoscaler", "pushfarm")[
            "spec", "metrics", "0", "external", "metric", "name"]?.string
        let rule = try DeployFolder.documents("kubernetes/prometheus-adapter.yaml").first?[
            "rules", "external", "0"]
        #expect(metric == rule?["name", "as"]?.string && metric == rule?["seriesQuery"]?.string)
    }

    @Test func `all pod selectors select the pods of the Deployment`() throws {
        let all = try Self.manifests()
        let deployment = try all.one("Deployment", "pushfarm")
        let labels = try #require(deployment["spec", "template", "metadata", "labels"])
        #expect(deployment["spec", "selector", "matchLabels"] == labels)
        #expect(try all.one("PodDisruptionBudget", "pushfarm")["spec", "selector", "matchLabels"] == labels)
        #expect(try all.one("NetworkPolicy", "pushfarm")["spec", "podSelector", "matchLabels"] == labels)
        #expect(try all.one("Service", "pushfarm-metrics")["spec", "selector"] == labels)
        let target = try all.one("HorizontalPodAutoscaler", "pushfarm")["spec", "scaleTargetRef"]
        #expect(target?["kind"]?.string == "Deployment" && target?["name"]?.string == "pushfarm")
    }

    @Test(.enabled(if: DeployFolder.program("kubectl") != nil, "kubectl is not installed"))
    func `kustomize renders the manifests`() async throws {
        let folder = try TestFolder()
        let render = try Child(
            "kustomize", "kubectl", ["kustomize", DeployFolder.path(Self.folder)], in: folder.path)
        #expect(try await render.wait() == .exited(0), "\(render.error)")
        let all = try Manifests(rendered: render.output)
        #expect(all.objects.count == 10)
        #expect(
            all.objects.allSatisfy {
                $0.kind == "Namespace" || $0.node["metadata", "namespace"]?.string == "pushfarm"
            })
        // The generated name of the ConfigMap has a hash of its content. The mount must use the same name.
        let map = try #require(all.objects.first { $0.kind == "ConfigMap" })
        let sources = try all.one("Deployment", "pushfarm")[
            "spec", "template", "spec", "volumes", "0", "projected", "sources"]
        #expect(map.name.hasPrefix("pushfarm-") && sources?["0", "configMap", "name"]?.string == map.name)
    }
}
