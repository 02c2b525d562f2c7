namespace Skipstone.Unity
{
    // Results of a connect call in a page. Compiled for all platforms, so that it can be tested without a page.
    internal static class BrowserRefusal
    {
        // The client's number; or the exception that the native client throws, which is the only one that callers
        // expect.
        internal static int Check(int answer, string url)
        {
            if (answer >= 0) return answer;
            if (answer == (int)Status.NotBuilt)
                throw new SkipstoneException(Status.NotBuilt,
                    "the page has no browser client: set window.Skipstone to the module skipstone.js before the game connects");
            throw new SkipstoneException(Status.BadUrl, "the browser client does not take the URL " + url + "; its console says why");
        }
    }
}
