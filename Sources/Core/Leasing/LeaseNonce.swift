/// The nonce under which a coordinator holds an app's leases.
struct LeaseNonce {
    private let instance: String
    private var renewals = 0
    private(set) var current: String
    /// The nonce of an owner that is known to have exited, whose leases may be taken at once; "" if there is none.
    private(set) var predecessor: String

    /// - Parameter instance: no lease was ever taken with it.
    init(_ instance: String, predecessor: String) {
        (self.instance, current, self.predecessor) = (instance, instance, predecessor)
    }

    /// A new one makes tokens that no script has ever seen; the old ones are known to be unused, for they were ours.
    mutating func renew() {
        renewals += 1
        predecessor = instance
        current = "\(instance).\(renewals)"
    }
}
