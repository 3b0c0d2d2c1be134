import FarmConfiguration
import FarmHarness
import Foundation
import Testing
import Yams

/// Checks the Dockerfile and compose.yaml without Docker.
struct ImageTests {
    /// The Dockerfile's instructions in order. Each instruction includes its continuation lines.
    private static func instructions() throws -> [(word: String, rest: String)] {
        let lines = try DeployFolder.text("docker/Dockerfile").split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.joined(separator: "\n")
            .replacingOccurrences(of: "\\\n", with: " ").split(separator: "\n")
        return lines.map { line in
            let words = line.split(separator: " ", maxSplits: 1)
            return (String(words[0]), words.count > 1 ? String(words[1]) : "")
        }
    }

    private static func runtime() throws -> ArraySlice<(word: String, rest: String)> {
        let all = try instructions()
        let start = try #require(all.lastIndex { $0.word == "FROM" })
        return all[start...]
    }

    /// The packages that the last stage installs.
    static func packages() throws -> Set<String> {
        let install = try #require(try runtime().first { $0.rest.contains("apt-get install") }?.rest)
        let command = try #require(install.components(separatedBy: "apt-get install").last)
            .components(separatedBy: "&&")[0]
        return Set(command.split(separator: " ").filter { !$0.hasPrefix("-") }.map(String.init))
    }

    /// The Debian packages of the program's shared libraries. A release build links Swift's own libraries statically.
    static func libraries(in folder: TestFolder) async throws -> Set<String> {
        let listing = try Child("ldd", "ldd", [BuiltProgram.path], in: folder.path)
        #expect(try await listing.wait() == .exited(0))
        let patterns = listing.output.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count > 2, words[1] == "=>" else { return nil }
            return ["/lib/", "/usr/lib/"].contains { words[2].hasPrefix($0) } ? "*/\(words[0])" : nil
        }
        #expect(patterns.count > 5)
        let owners = try Child("owners", "dpkg-query", ["--search"] + patterns, in: folder.path)
        #expect(try await owners.wait() == .exited(0), "\(owners.error)")
        return Set(
            owners.output.split(separator: "\n").compactMap {
                $0.split(separator: ":").first.map(String.init)
            })
    }

    @Test(.enabled(if: DeployFolder.program("dpkg-query") != nil, "not a Debian system"))
    func `the image has exactly the libraries of the program`() async throws {
        let folder = try TestFolder()
        let libraries = try await Self.libraries(in: folder)
        // Every Debian system has these packages, so the image does not install them.
        let given: Set = ["libc6"]
        let needed = libraries.subtracting(given)
        #expect(try Self.packages() == needed.union(["ca-certificates", "tzdata"]))
    }

    @Test func `the image has an unprivileged user, stops by TERM, and sets a valid configuration`() throws {
        let runtime = try Self.runtime()
        func one(_ word: String) -> String? { runtime.last { $0.word == word }?.rest }
        #expect(one("USER") == "10001:10001" && one("STOPSIGNAL") == "SIGTERM")
        #expect(one("FROM") == "debian:12-slim" && one("HEALTHCHECK") != nil)
        #expect(one("ENTRYPOINT") == #"["pushfarm"]"# && one("CMD") == #"["coordinator"]"#)
        var environment: [String: String] = [:]
        for part in try #require(one("ENV")).split(separator: " ") {
            let pair = part.split(separator: "=", maxSplits: 1)
            environment[String(pair[0])] = String(pair[1])
        }
        #expect(environment.removeValue(forKey: "PUSHFARM_CONFIG") == "/etc/pushfarm/pushfarm.yaml")
        let farm = try Configuration.read(
            try DeployFolder.text("pushfarm.yaml"), file: "/etc/pushfarm/pushfarm.yaml",
            environment: environment)
        #expect(farm.stateDirectory == "/var/lib/pushfarm" && farm.log.format == .json)
    }

    @Test func `the image copies files that exist and that the build context contains`() throws {
        let ignored = try String(
            contentsOf: DeployFolder.root.appendingPathComponent(".dockerignore"), encoding: .utf8)
        let context = ignored.split(separator: "\n").filter { $0.hasPrefix("!") }.map { $0.dropFirst() }
        for copy in try Self.instructions() where copy.word == "COPY" && !copy.rest.hasPrefix("--from") {
            // A COPY source with a pattern may match no file, so the test skips it.
            for source in copy.rest.split(separator: " ").dropLast() where !source.contains("[") {
                let path = DeployFolder.root.appendingPathComponent(String(source)).path
                #expect(FileManager.default.fileExists(atPath: path), "\(source)")
                #expect(context.contains { source == $0 || source.hasPrefix($0 + "/") }, "\(source)")
            }
        }
    }

    @Test func `compose.yaml has a valid configuration and names existing services`() throws {
        let farm = try Configuration.read(
            try DeployFolder.text("docker/pushfarm.yaml"), file: "/etc/pushfarm/pushfarm.yaml")
        let compose = try #require(try DeployFolder.documents("docker/compose.yaml").first)
        let services = DeployFolder.merged(try #require(compose["services"]))
            .mapValues(DeployFolder.merged)
        let names = Set(services.keys)
        let gateway = try #require(farm.app(named: "demo")?.gateway)
        #expect(names.contains(gateway.host))
        #expect("\(try #require(farm.redis))" == "redis://redis:6379/0" && names.contains("redis"))
        let volumes = Set(try #require(compose["volumes"]?.mapping).keys.compactMap(\.string))
        // Redis in compose.yaml has no password, so only the coordinators may share a network with Redis.
        let networks = services.mapValues { Set($0["networks"]?.sequence?.compactMap(\.string) ?? []) }
        let queue = try #require(networks["redis"])
        #expect(
            queue.count == 1
                && Set(networks.filter { !$0.value.isDisjoint(with: queue) }.keys) == [
                    "redis", "alpha", "beta",
                ])
        #expect(services.values.allSatisfy { $0["ports"] == nil && $0["network_mode"] == nil })
        for (name, service) in services {
            #expect(service["image"] != nil, "\(name)")
            for volume in service["volumes"]?.sequence?.compactMap(\.string) ?? [] {
                let source = volume.split(separator: ":")[0]
                if source.hasPrefix("./") {
                    let path = DeployFolder.path("docker/" + source.dropFirst(2))
                    #expect(FileManager.default.fileExists(atPath: path), "\(name): \(source)")
                } else {
                    #expect(volumes.contains(String(source)), "\(name): \(source)")
                }
            }
            for other in service["depends_on"]?.mapping?.keys.compactMap(\.string) ?? [] {
                #expect(names.contains(other))
                #expect(services[other]?["healthcheck"] != nil, "\(other) is waited for")
            }
        }
    }
}
