package import PushModel

/// The options that all pushes of one batch segment share, and the request headers made from these options. Heads are compared by
/// identity.
package final class PushHead {
    package let options: PushOptions
    /// Whether the pushes are retries.
    package let isRetry: Bool
    package let topic: [UInt8]
    package let pushType: String
    package let priority: String
    package let expiration: String?
    package let collapseID: String?

    /// - Parameter topic: the app's topic, to which the push type adds its suffix. A topic in the options takes precedence over
    ///   the app's topic.
    package init(_ options: PushOptions, appTopic: String, isRetry: Bool = false) {
        self.options = options
        self.isRetry = isRetry
        topic = Array((options.topic ?? options.pushType.topic(ofApp: appTopic)).utf8)
        pushType = options.pushType.name
        priority = String(options.priority)
        expiration = options.expiration.map { String($0) }
        collapseID = options.collapseID
    }
}
