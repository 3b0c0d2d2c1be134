import Foundation

/// The process's environment.
enum ProcessEnvironment {
    static var variables: [String: String] { ProcessInfo.processInfo.environment }

    /// As `NAME=value`, without what configures a farm.
    static var withoutOurs: [String] {
        variables.filter { !$0.key.hasPrefix("PUSHFARM_") }.map { "\($0.key)=\($0.value)" }.sorted()
    }

    /// As `NAME=value`.
    static var all: [String] { variables.map { "\($0.key)=\($0.value)" }.sorted() }

    /// A service manager that sets it takes the process's end for the service's; supervisord sets it as well.
    static let supervised = "SUPERVISOR_ENABLED=1"
}
