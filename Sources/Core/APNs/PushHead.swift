package import PushModel

/// The options that all pushes of one job part of a batch share, and the request headers that these options result in. A
/// class, so that heads can be compared by identity.
package final class PushHead {
    package let options: PushOptions
    /// Whether the pushes are retries.
    package let isRetry: Bool
    package let topic: [UInt8]
    package let pushType: String
    package let priority: String
    package let expiration: String?
    package let collapseID: String?

    /// - Parameter topic: the topic of the app. If the options have a topic, it is used instead; otherwise the suffix
    ///   of the push type is added to the app's topic.
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
