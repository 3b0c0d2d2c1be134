// Stand-ins that the gatherer and the promoter replace.
import EventLoop

@Loop final class Promoter {
    init(_ desk: AppDesk) {}
    func start() {}
    func stop() async {}
}

@Loop final class Gatherer {
    init(_ desk: AppDesk) {}
    func start() {}
    func stop() async {}
    func wake() {}
}
