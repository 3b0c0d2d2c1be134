/// The Redis users that deploy/users.acl describes.
package enum RedisUsers {
    /// The file with a password for each user that has none.
    package static func text(_ password: String) throws -> String {
        try Repository.text(of: "deploy/users.acl").replacing("resetpass", with: ">" + password)
    }
}
