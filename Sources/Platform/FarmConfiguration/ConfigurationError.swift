/// A configuration error with its source. The error's description is one line for the user, without secrets.
package struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The source of a value: file and line, variable or flag.
    package enum Source: Sendable, Hashable, CustomStringConvertible {
        case file(String, line: Int)
        case environment(String)
        case flag(String)

        package var description: String {
            switch self {
            case .file(let path, let line): "\(path):\(line)"
            case .environment(let variable): "environment \(variable)"
            case .flag(let name): name
            }
        }
    }

    package enum Problem: Sendable, Equatable {
        case unreadable(String)
        case syntax(String)
        case unknownKey(nearest: String?)
        case wrongType(expected: String, found: String)
        /// The value has the right type but is not allowed.
        case invalid(String)
        case missing(String)
    }

    package var source: Source?
    /// The dotted key, such as `apps.demo.key.id`.
    package var key: String?
    package var problem: Problem

    package init(source: Source?, key: String?, problem: Problem) {
        self.source = source
        self.key = key
        self.problem = problem
    }

    package var description: String {
        let start = [source?.description, key].compactMap(\.self).map { $0 + ": " }.joined()
        return switch problem {
        case .unreadable(let reason), .syntax(let reason), .invalid(let reason), .missing(let reason):
            start + reason
        case .unknownKey(let nearest):
            start + "unknown key; "
                + (nearest.map { "did you mean \($0)?" } ?? "deploy/pushfarm.yaml shows all keys")
        case .wrongType(let expected, let found): start + "expected \(expected), found \(found)"
        }
    }
}

/// Why a value is not valid for its key. This error does not contain the source of the value. The code that reads the key adds
/// the source.
struct InvalidValue: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
