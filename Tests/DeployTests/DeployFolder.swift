import FarmHarness
import Foundation
import Yams

/// The files of deploy/.
enum DeployFolder {
    static let root = Repository.root

    static func path(_ name: String) -> String { root.appendingPathComponent("deploy/" + name).path }

    static func text(_ name: String) throws -> String {
        try String(contentsOfFile: path(name), encoding: .utf8)
    }

    static func files(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
    }

    /// Returns all documents of a YAML file.
    static func documents(_ name: String) throws -> [Node] {
        try Array(compose_all(yaml: text(name)))
    }

    /// Returns a mapping, including the keys that it merges from other mappings by `<<`.
    static func merged(_ node: Node) -> [String: Node] {
        var result: [String: Node] = [:]
        for (key, value) in node.mapping ?? [:] {
            guard let key = key.string else { continue }
            if key == "<<" { result.merge(merged(value)) { own, _ in own } } else { result[key] = value }
        }
        return result
    }

    /// The path of a program; nil if the program is not installed.
    static func program(_ name: String) -> String? {
        ["/usr/local/bin/", "/usr/bin/", "/bin/", "/usr/sbin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
