import Testing
import Yams

/// The Kubernetes objects of deploy/kubernetes/, by kind and name.
struct Manifests {
    private(set) var objects: [(kind: String, name: String, node: Node)] = []

    init(_ files: [String]) throws {
        for file in files {
            for document in try DeployFolder.documents("kubernetes/" + file) {
                try add(document, of: file)
            }
        }
    }

    /// Reads the objects from kustomize's output.
    init(rendered text: String) throws {
        for document in try compose_all(yaml: text) { try add(document, of: "kustomize") }
    }

    private mutating func add(_ document: Node, of file: String) throws {
        let kind = try #require(document["kind"]?.string, "\(file)")
        let name = try #require(document["metadata"]?["name"]?.string, "\(file): \(kind)")
        #expect(document["apiVersion"]?.string != nil, "\(file)")
        objects.append((kind, name, document))
    }

    func one(_ kind: String, _ name: String) throws -> Node {
        try #require(objects.first { $0.kind == kind && $0.name.hasPrefix(name) }?.node, "\(kind) \(name)")
    }
}

extension Node {
    subscript(path: String...) -> Node? {
        path.reduce(Optional(self)) { node, key in
            Int(key).map { index in node?.sequence?.dropFirst(index).first } ?? node?[key]
        }
    }

    var items: [Node] { sequence.map(Array.init) ?? [] }
}
