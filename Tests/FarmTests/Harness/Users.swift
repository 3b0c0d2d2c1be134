import FarmHarness
import Foundation

/// The users that deploy/users.acl describes.
enum Users {
    private static let root = Repository.root

    /// The file as it is, with a password for everybody where it has none.
    static func text(_ password: String) throws -> String {
        let file = root.appendingPathComponent("deploy/users.acl")
        return try String(contentsOf: file, encoding: .utf8)
            .replacingOccurrences(of: "resetpass", with: ">" + password)
    }
}
