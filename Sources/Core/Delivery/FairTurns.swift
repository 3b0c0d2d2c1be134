/// How much each app of a worker may send before the others have their turn, so that one with ten million pushes does not delay
/// another's ten.
///
/// Each turn of the loop gives every app that has something to send as many pushes as its weight says. When the worker's processor is
/// short, the apps share it so; when not, none of them notices.
package final class FairTurns {
    /// For a weight of one, while others have something to send.
    private static let share = 128
    /// Of an app that is alone: what has come meanwhile is looked at in between.
    private static let shareAlone = 2048

    private var atWork: Set<ObjectIdentifier> = []

    package init() {}

    /// An app has something held, or has not.
    package func note(_ app: AnyObject, isAtWork: Bool) {
        if isAtWork { atWork.insert(ObjectIdentifier(app)) } else { atWork.remove(ObjectIdentifier(app)) }
    }

    /// Pushes that an app may send in a turn.
    package func share(of app: AnyObject, weight: Int) -> Int {
        let others = atWork.count - (atWork.contains(ObjectIdentifier(app)) ? 1 : 0)
        return others > 0 ? Self.share * weight : Self.shareAlone
    }
}
